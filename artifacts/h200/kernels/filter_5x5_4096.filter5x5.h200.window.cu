extern "C" __global__ void __launch_bounds__(128)
filter5x5_kernel(const float *I, const float *F, float *O)
{
    __shared__ __align__(16) float F_SM[25];
    asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernels in front have ended
    const int tid = (int)threadIdx.y * 32 + (int)threadIdx.x;
    const int thr_p = threadIdx.y;
    const int thr_q = threadIdx.x;
    const int blk_p = blockIdx.y;
    const int blk_q = blockIdx.x;
    // 1: (de-)comp( 16, 128, ^, ^ ) ( ^, F:SM[1,2] ; ^ ) ( BLK.y, BLK.x, ^, ^ )
    if (tid < 25)
        F_SM[tid / 5 * 5 + tid % 5] = F[tid / 5 * 5 + tid % 5];
    // 2: (de-)comp( 4, 4, ^, ^ ) ( I:RM[1,2], ^ ; ^ ) ( THR.y, THR.x, ^, ^ )
    __align__(16) float I_RM[64];
    #pragma unroll
    for (int c_I0 = 0; c_I0 < 8; ++c_I0) {
        #pragma unroll
        for (int c_I1 = 0; c_I1 < 8; c_I1 += 4)
            *(float4 *)&I_RM[c_I0 * 8 + c_I1] = *(const float4 *)&I[blk_p * 65600 + thr_p * 16400 +
                    c_I0 * 4100 + blk_q * 128 + thr_q * 4 + c_I1];
    }
    __align__(16) float O_RM[16] = {};
    __syncthreads();  // F_SM is filled
    #pragma unroll
    for (int r_3 = 0; r_3 < 5; ++r_3) {
        #pragma unroll
        for (int s_3 = 0; s_3 < 5; ++s_3) {
            // 3: (de-)comp( ^, ^, 1, 1 ) ( ^, ^ ; O:RM[1,2] ) ( ^, ^, FOR.1, FOR.2 ) @unroll
            #pragma unroll
            for (int p_4 = 0; p_4 < 4; ++p_4) {
                #pragma unroll
                for (int q_4 = 0; q_4 < 4; ++q_4)
                    O_RM[p_4 * 4 + q_4] += I_RM[p_4 * 8 + r_3 * 8 + q_4 + s_3] * F_SM[r_3 * 5 + s_3];
            }
        }
    }
    #pragma unroll
    for (int p_4 = 0; p_4 < 4; ++p_4)
        *(float4 *)&O[blk_p * 65536 + thr_p * 16384 + p_4 * 4096 + blk_q * 128 + thr_q * 4] =
                *(const float4 *)&O_RM[p_4 * 4];
}
