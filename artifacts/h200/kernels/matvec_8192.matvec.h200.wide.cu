extern "C" __global__ void __launch_bounds__(256)
matvec_kernel(const float *A, const float *B, float *C)
{
    __shared__ __align__(16) float meet_f32[8];
    asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernels in front have ended
    const int tid = threadIdx.x;
    const int thr_k = threadIdx.x;
    const int blk_i = blockIdx.x;
    // 1: (de-)comp( 1, ^ ) ( ^, ^ ; ^ ) ( BLK.x, ^ )
    float C_RM = 0.0f;
    for (int k_2 = 0; k_2 < 2; ++k_2) {
        // 2: (de-)comp( ^, 4096 ) ( ^, ^ ; C:RM[1] ) ( ^, FOR.1 )
        // 3: (de-)comp( ^, 16 ) ( A:RM[1,2], B:RM[1] ; ^ ) ( ^, THR.x@cyclic(4) )
        __align__(16) float A_RM[16];
        #pragma unroll
        for (int c_A1 = 0; c_A1 < 16; c_A1 += 4)
            *(float4 *)&A_RM[c_A1] = *(const float4 *)&A[blk_i * 8192 + k_2 * 4096 + thr_k * 4 +
                    c_A1 / 4 * 1024 + c_A1 % 4];
        __align__(16) float B_RM[16];
        #pragma unroll
        for (int c_B0 = 0; c_B0 < 16; c_B0 += 4)
            *(float4 *)&B_RM[c_B0] = *(const float4 *)&B[k_2 * 4096 + thr_k * 4 + c_B0 / 4 * 1024 + c_B0 % 4];
        #pragma unroll
        for (int k_4h = 0; k_4h < 4; ++k_4h) {
            #pragma unroll
            for (int k_4l = 0; k_4l < 4; ++k_4l)
                C_RM += A_RM[k_4h * 4 + k_4l] * B_RM[k_4h * 4 + k_4l];
        }
    }
    const float part = C_RM;
    const float part_2 = part + __shfl_xor_sync(0xffffffff, part, 1);
    const float part_3 = part_2 + __shfl_xor_sync(0xffffffff, part_2, 2);
    const float part_4 = part_3 + __shfl_xor_sync(0xffffffff, part_3, 4);
    const float part_5 = part_4 + __shfl_xor_sync(0xffffffff, part_4, 8);
    const float part_6 = part_5 + __shfl_xor_sync(0xffffffff, part_5, 16);
    const int lane = tid % 32;
    if (lane == 0)
        meet_f32[thr_k / 32] = part_6;
    __syncthreads();  // meet_f32 is filled
    const float part_7 = meet_f32[lane % 8];
    const float part_8 = part_7 + __shfl_xor_sync(0xffffffff, part_7, 1);
    const float part_9 = part_8 + __shfl_xor_sync(0xffffffff, part_8, 2);
    const float part_10 = part_9 + __shfl_xor_sync(0xffffffff, part_9, 4);
    if (thr_k == 0)
        C[blk_i] = part_10;
}
