extern "C" __global__ void __launch_bounds__(128)
conv2d_kernel(const float *I, const float *F, float *O)
{
    __shared__ __align__(16) float I_SM[777];
    __shared__ __align__(16) float F_SM[1424];
    asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernels in front have ended
    const int tid = (int)threadIdx.y * 16 + (int)threadIdx.x;
    const int thr_q = threadIdx.y;
    const int thr_k = threadIdx.x;
    const int blk_n = blockIdx.x;
    const int blk_p = blockIdx.y;
    const int blk_q = blockIdx.z;
    // 1: (de-)comp( 1, 7, 16, ^, ^, ^, ^ ) ( ^, ^ ; ^ ) ( BLK.x, BLK.y, BLK.z, ^, ^, ^, ^ )
    __align__(16) float O_RM[56] = {};
    for (int r_2 = 0; r_2 < 7; ++r_2) {
        // 2: (de-)comp( ^, ^, ^, ^, 1, ^, ^ )
        //             ( I:SM[1,2,4,3], F:SM[2,3,4,1]@pad(4) ; O:RM[1,2,3,4] )
        //             ( ^, ^, ^, ^, ^, ^, ^ )
        __syncthreads();  // I_SM has been read
        #pragma unroll
        for (int c_I_round = 0; c_I_round < 7; ++c_I_round) {
            if (c_I_round * 128 + tid < 777) {
                const int c_I = c_I_round * 128 + tid;
                I_SM[c_I / 111 * 111 + c_I / 3 % 37 + c_I % 3 * 37] = I[blk_n * 158700 + blk_p * 9660 +
                        r_2 * 690 + blk_q * 96 + c_I / 111 * 1380 + c_I / 3 % 37 * 3 + c_I % 3];
            }
        }
        #pragma unroll
        for (int c_F_round = 0; c_F_round < 11; ++c_F_round) {
            if (c_F_round * 128 + tid < 1344) {
                const int c_F = c_F_round * 128 + tid;
                F_SM[c_F / 21 + c_F / 3 % 7 * 204 + c_F % 3 * 68] = F[r_2 * 21 + c_F / 21 * 147 +
                        c_F / 3 % 7 * 3 + c_F % 3];
            }
        }
        // 3: (de-)comp( ^, ^, 2, 4, ^, ^, ^ ) ( ^, ^ ; ^ ) ( ^, ^, THR.y, THR.x, ^, ^, ^ )
        __syncthreads();  // F_SM is filled
        #pragma unroll
        for (int c_4 = 0; c_4 < 3; ++c_4) {
            // 4: (de-)comp( ^, ^, ^, ^, ^, ^, 1 )
            //             ( I:RM[1,2,3,4], F:RM[1,2,3,4] ; ^ )
            //             ( ^, ^, ^, ^, ^, ^, ^ ) @unroll
            float I_RM[63];
            #pragma unroll
            for (int c_I1 = 0; c_I1 < 7; ++c_I1) {
                #pragma unroll
                for (int c_I2 = 0; c_I2 < 9; ++c_I2)
                    I_RM[c_I1 * 9 + c_I2] = I_SM[c_I1 * 111 + c_4 * 37 + thr_q * 4 + c_I2];
            }
            float F_RM[28];
            #pragma unroll
            for (int c_F0 = 0; c_F0 < 4; ++c_F0) {
                #pragma unroll
                for (int c_F2 = 0; c_F2 < 7; ++c_F2)
                    F_RM[c_F0 * 7 + c_F2] = F_SM[c_F2 * 204 + c_4 * 68 + thr_k * 4 + c_F0];
            }
            #pragma unroll
            for (int s_5 = 0; s_5 < 7; ++s_5) {
                // 5: (de-)comp( ^, ^, ^, ^, ^, 1, ^ ) ( ^, ^ ; ^ ) ( ^, ^, ^, ^, ^, ^, ^ ) @unroll
                #pragma unroll
                for (int p_6 = 0; p_6 < 7; ++p_6) {
                    #pragma unroll
                    for (int q_6 = 0; q_6 < 2; ++q_6) {
                        #pragma unroll
                        for (int k_6 = 0; k_6 < 4; ++k_6)
                            O_RM[p_6 * 8 + q_6 * 4 + k_6] += I_RM[p_6 * 9 + q_6 * 2 + s_5] * F_RM[k_6 * 7 +
                                    s_5];
                    }
                }
            }
        }
    }
    #pragma unroll
    for (int p_6 = 0; p_6 < 7; ++p_6) {
        #pragma unroll
        for (int q_6 = 0; q_6 < 2; ++q_6)
            *(float4 *)&O[blk_n * 802816 + blk_p * 50176 + p_6 * 7168 + blk_q * 1024 + thr_q * 128 +
                    q_6 * 64 + thr_k * 4] = *(const float4 *)&O_RM[p_6 * 8 + q_6 * 4];
    }
}
