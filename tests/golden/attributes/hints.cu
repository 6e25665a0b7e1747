extern "C" __global__ void __launch_bounds__(64)
matmul_kernel(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ matmul_part)
{
    __shared__ __align__(16) float A_SM[384];
    const int tid = (int)threadIdx.y * 8 + (int)threadIdx.x;
    const int thr_i = threadIdx.y;
    const int thr_j = threadIdx.x;
    const int blk_i = blockIdx.y;
    const int blk_k = blockIdx.z;
    // 1: (de-)comp( 32, 64, 24 ) ( ^, ^ ; ^@cache(stream)@combine(kernel) ) ( BLK.y, BLK.x, BLK.z )
    __align__(16) float C_RM[32] = {};
    for (int k_2 = 0; k_2 < 2; ++k_2) {
        // 2: (de-)comp( ^, ^, 12 ) ( A:SM[1,2]@cache(keep), ^ ; C:RM[1,2] ) ( ^, ^, FOR.1 )
        __syncthreads();  // A_SM has been read
        #pragma unroll
        for (int c_A_round = 0; c_A_round < 2; ++c_A_round) {
            if (c_A_round * 64 + tid < 96) {
                const int c_A = c_A_round * 64 + tid;
                *(float4 *)&A_SM[c_A / 3 * 12 + c_A % 3 * 4] = __ldg((const float4 *)&A[blk_i * 1536 +
                        blk_k * 24 + k_2 * 12 + c_A / 3 * 48 + c_A % 3 * 4]);
            }
        }
        // 3: (de-)comp( 4, 8, ^ ) ( ^, ^ ; ^ ) ( THR.y, THR.x, ^ )
        __syncthreads();  // A_SM is filled
        for (int k_4 = 0; k_4 < 12; ++k_4) {
            // 4: (de-)comp( ^, ^, 1 ) ( ^, B:RM[1,2]@cache(stream) ; ^ ) ( ^, ^, FOR.1 )
            __align__(16) float B_RM[8];
            #pragma unroll
            for (int c_B1 = 0; c_B1 < 8; c_B1 += 4)
                *(float4 *)&B_RM[c_B1] = __ldcs((const float4 *)&B[blk_k * 1536 + k_2 * 768 + k_4 * 64 +
                        thr_j * 8 + c_B1]);
            #pragma unroll
            for (int i_5 = 0; i_5 < 4; ++i_5) {
                #pragma unroll
                for (int j_5 = 0; j_5 < 8; ++j_5)
                    C_RM[i_5 * 8 + j_5] += A_SM[thr_i * 48 + i_5 * 12 + k_4] * B_RM[j_5];
            }
        }
    }
    #pragma unroll
    for (int i_5 = 0; i_5 < 4; ++i_5) {
        #pragma unroll
        for (int j_5 = 0; j_5 < 8; j_5 += 4)
            *(float4 *)&matmul_part[blk_k * 4096 + blk_i * 2048 + thr_i * 256 + i_5 * 64 + thr_j * 8 + j_5] =
                    *(const float4 *)&C_RM[i_5 * 8 + j_5];
    }
}

extern "C" __global__ void __launch_bounds__(64)
matmul_combine(float *C, const float *matmul_part)
{
    asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernels in front have ended
    const int thr_j = threadIdx.x;
    const int blk_i = blockIdx.y;
    float C_RM = 0.0f;
    for (int part_3 = 0; part_3 < 2; ++part_3)
        C_RM += matmul_part[part_3 * 4096 + blk_i * 64 + thr_j];
    __stcs(&C[blk_i * 64 + thr_j], C[blk_i * 64 + thr_j] + C_RM);
}
