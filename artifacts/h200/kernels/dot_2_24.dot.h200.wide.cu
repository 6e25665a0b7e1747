extern "C" __global__ void __launch_bounds__(1)
dot_start(float *C)
{
    asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernels in front have ended
    C[0] = 0.0f;
}

extern "C" __global__ void __launch_bounds__(512)
dot_kernel(const float *A, const float *B, float *C)
{
    __shared__ __align__(16) float meet_f32[512];
    asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernels in front have ended
    const int thr_k = threadIdx.x;
    const int blk_k = blockIdx.x;
    // 1: (de-)comp( 8192 ) ( ^, ^ ; ^@combine(atomic) ) ( BLK.x )
    float C_RM = 0.0f;
    #pragma unroll 4
    for (int k_2 = 0; k_2 < 4; ++k_2) {
        // 2: (de-)comp( 2048 ) ( ^, ^ ; C:RM[1] ) ( FOR.1 ) @unroll(4)
        // 3: (de-)comp( 4 ) ( A:RM[1]@cache(stream), B:RM[1]@cache(stream) ; ^@combine(shared) ) ( THR.x )
        __align__(16) float A_RM[4];
        *(float4 *)&A_RM[0] = __ldcs((const float4 *)&A[blk_k * 8192 + k_2 * 2048 + thr_k * 4]);
        __align__(16) float B_RM[4];
        *(float4 *)&B_RM[0] = __ldcs((const float4 *)&B[blk_k * 8192 + k_2 * 2048 + thr_k * 4]);
        #pragma unroll
        for (int k_4 = 0; k_4 < 4; ++k_4)
            C_RM += A_RM[k_4] * B_RM[k_4];
    }
    const int unit = thr_k;
    meet_f32[unit] = C_RM;
    __syncthreads();  // meet_f32 is filled
    if (unit < 256) {
        const float mine = meet_f32[unit];
        const float theirs = meet_f32[unit + 256];
        meet_f32[unit] = mine + theirs;
    }
    __syncthreads();  // meet_f32 is filled
    if (unit < 128) {
        const float mine_2 = meet_f32[unit];
        const float theirs_2 = meet_f32[unit + 128];
        meet_f32[unit] = mine_2 + theirs_2;
    }
    __syncthreads();  // meet_f32 is filled
    if (unit < 64) {
        const float mine_3 = meet_f32[unit];
        const float theirs_3 = meet_f32[unit + 64];
        meet_f32[unit] = mine_3 + theirs_3;
    }
    __syncthreads();  // meet_f32 is filled
    if (unit < 32) {
        const float mine_4 = meet_f32[unit];
        const float theirs_4 = meet_f32[unit + 32];
        meet_f32[unit] = mine_4 + theirs_4;
    }
    __syncthreads();  // meet_f32 is filled
    if (unit < 16) {
        const float mine_5 = meet_f32[unit];
        const float theirs_5 = meet_f32[unit + 16];
        meet_f32[unit] = mine_5 + theirs_5;
    }
    __syncthreads();  // meet_f32 is filled
    if (unit < 8) {
        const float mine_6 = meet_f32[unit];
        const float theirs_6 = meet_f32[unit + 8];
        meet_f32[unit] = mine_6 + theirs_6;
    }
    __syncthreads();  // meet_f32 is filled
    if (unit < 4) {
        const float mine_7 = meet_f32[unit];
        const float theirs_7 = meet_f32[unit + 4];
        meet_f32[unit] = mine_7 + theirs_7;
    }
    __syncthreads();  // meet_f32 is filled
    if (unit < 2) {
        const float mine_8 = meet_f32[unit];
        const float theirs_8 = meet_f32[unit + 2];
        meet_f32[unit] = mine_8 + theirs_8;
    }
    __syncthreads();  // meet_f32 is filled
    if (unit < 1) {
        const float mine_9 = meet_f32[unit];
        const float theirs_9 = meet_f32[unit + 1];
        meet_f32[unit] = mine_9 + theirs_9;
    }
    __syncthreads();  // meet_f32 is filled
    const float whole = meet_f32[0];
    if (thr_k == 0)
        atomicAdd(&C[0], whole);
}
