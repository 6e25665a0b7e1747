__device__ __forceinline__ void cp_async_16(void *dst, const void *src)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                 :: "r"((unsigned)__cvta_generic_to_shared(dst)), "l"(__cvta_generic_to_global(src))
                 : "memory");
}

__device__ __forceinline__ void cp_async_commit()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

template <int pending>
__device__ __forceinline__ void cp_async_wait()
{
    asm volatile("cp.async.wait_group %0;" :: "n"(pending) : "memory");
}

extern "C" __global__ void __launch_bounds__(224)
conv2d_56_kernel(const float *I, const float *F, float *O)
{
    __shared__ __align__(16) float I_SM[4176];
    __shared__ __align__(16) float F_SM[1436];
    asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernels in front have ended
    const int tid = (int)threadIdx.y * 8 + (int)threadIdx.x;
    const int thr_q = threadIdx.y;
    const int thr_k = threadIdx.x;
    const int blk_p = blockIdx.y;
    const int blk_k = blockIdx.x;
    const int blk_c = blockIdx.z;
    // 1: (de-)comp( ^, 7, ^, 16, ^, ^, 16 ) ( ^, ^ ; ^@combine(atomic) ) ( ^, BLK.y, ^, BLK.x, ^, ^, BLK.z )
    __align__(8) float O_RM[28] = {};
    for (int c_2 = 0; c_2 < 2; ++c_2) {
        // 2: (de-)comp( ^, ^, ^, ^, ^, ^, 8 )
        //             ( I:SM[1,2,3,4]@copy(async), F:SM[2,3,4,1]@pad(4) ; O:RM[1,2,3,4] )
        //             ( ^, ^, ^, ^, ^, ^, ^ )
        __syncthreads();  // I_SM has been read
        #pragma unroll
        for (int c_I_round = 0; c_I_round < 5; ++c_I_round) {
            if (c_I_round * 224 + tid < 1044) {
                const int c_I = c_I_round * 224 + tid;
                cp_async_16(&I_SM[c_I / 116 * 464 + c_I / 2 % 58 * 8 + c_I % 2 * 4], &I[blk_p * 25984 +
                        blk_c * 16 + c_2 * 8 + c_I / 116 * 3712 + c_I / 2 % 58 * 64 + c_I % 2 * 4]);
            }
        }
        #pragma unroll
        for (int c_F_round = 0; c_F_round < 2; ++c_F_round) {
            if (c_F_round * 224 + tid < 288) {
                const int c_F = c_F_round * 224 + tid;
                __align__(16) float F_row[4];
                *(float4 *)&F_row[0] = *(const float4 *)&F[blk_k * 9216 + blk_c * 16 + c_2 * 8 +
                        c_F / 18 * 576 + c_F / 6 % 3 * 192 + c_F / 2 % 3 * 64 + c_F % 2 * 4];
                #pragma unroll
                for (int lane = 0; lane < 4; ++lane)
                    F_SM[lane * 20 + c_F / 18 + c_F / 6 % 3 * 480 + c_F / 2 % 3 * 160 + c_F % 2 * 80] =
                            F_row[lane];
            }
        }
        cp_async_commit();
        cp_async_wait<0>();
        // 3: (de-)comp( ^, ^, 2, 2, ^, ^, ^ ) ( ^, ^ ; ^ ) ( ^, ^, THR.y, THR.x, ^, ^, ^ )
        __syncthreads();  // F_SM is filled
        #pragma unroll
        for (int c_4 = 0; c_4 < 2; ++c_4) {
            // 4: (de-)comp( ^, ^, ^, ^, ^, ^, 3 )
            //             ( I:RM[1,2,3,4], F:RM[1,2,3,4] ; ^ )
            //             ( ^, ^, ^, ^, ^, ^, ^ ) @unroll
            float I_RM[108];
            #pragma unroll
            for (int c_I1 = 0; c_I1 < 9; ++c_I1) {
                #pragma unroll
                for (int c_I2 = 0; c_I2 < 4; ++c_I2) {
                    #pragma unroll
                    for (int c_I3 = 0; c_I3 < 3; ++c_I3)
                        I_RM[c_I1 * 12 + c_I2 * 3 + c_I3] = I_SM[c_I1 * 464 + thr_q * 16 + c_I2 * 8 +
                                c_4 * 3 + c_I3];
                }
            }
            float F_RM[54];
            #pragma unroll
            for (int c_F0 = 0; c_F0 < 2; ++c_F0) {
                #pragma unroll
                for (int c_F1 = 0; c_F1 < 3; ++c_F1) {
                    #pragma unroll
                    for (int c_F2 = 0; c_F2 < 3; ++c_F2) {
                        #pragma unroll
                        for (int c_F3 = 0; c_F3 < 3; ++c_F3)
                            F_RM[c_F0 * 27 + c_F1 * 9 + c_F2 * 3 + c_F3] = F_SM[c_F1 * 480 + c_F2 * 160 +
                                    c_4 * 60 + c_F3 * 20 + thr_k * 2 + c_F0];
                    }
                }
            }
            #pragma unroll
            for (int q_5 = 0; q_5 < 2; ++q_5) {
                #pragma unroll
                for (int s_5 = 0; s_5 < 3; ++s_5) {
                    // 5: (de-)comp( ^, ^, 1, ^, ^, 1, ^ ) ( ^, ^ ; ^ ) ( ^, ^, ^, ^, ^, ^, ^ ) @unroll
                    #pragma unroll
                    for (int p_6 = 0; p_6 < 7; ++p_6) {
                        #pragma unroll
                        for (int k_6 = 0; k_6 < 2; ++k_6) {
                            #pragma unroll
                            for (int r_6 = 0; r_6 < 3; ++r_6) {
                                #pragma unroll
                                for (int c_6 = 0; c_6 < 3; ++c_6)
                                    O_RM[p_6 * 4 + q_5 * 2 + k_6] += I_RM[p_6 * 12 + r_6 * 12 + q_5 * 3 +
                                            s_5 * 3 + c_6] * F_RM[k_6 * 27 + r_6 * 9 + s_5 * 3 + c_6];
                            }
                        }
                    }
                }
            }
        }
        {
            // 4: (de-)comp( ^, ^, ^, ^, ^, ^, 3 )
            //             ( I:RM[1,2,3,4], F:RM[1,2,3,4] ; ^ )
            //             ( ^, ^, ^, ^, ^, ^, ^ ) @unroll
            float I_RM_2[108];
            #pragma unroll
            for (int c_I1_2 = 0; c_I1_2 < 9; ++c_I1_2) {
                #pragma unroll
                for (int c_I2_2 = 0; c_I2_2 < 4; ++c_I2_2) {
                    #pragma unroll
                    for (int c_I3_2 = 0; c_I3_2 < 3; ++c_I3_2)
                        I_RM_2[c_I1_2 * 12 + c_I2_2 * 3 + c_I3_2] = c_I3_2 + 6 < 8 ? I_SM[c_I1_2 * 464 +
                                thr_q * 16 + c_I2_2 * 8 + c_I3_2 + 6] : 0.0f;
                }
            }
            float F_RM_2[54];
            #pragma unroll
            for (int c_F0_2 = 0; c_F0_2 < 2; ++c_F0_2) {
                #pragma unroll
                for (int c_F1_2 = 0; c_F1_2 < 3; ++c_F1_2) {
                    #pragma unroll
                    for (int c_F2_2 = 0; c_F2_2 < 3; ++c_F2_2) {
                        #pragma unroll
                        for (int c_F3_2 = 0; c_F3_2 < 3; ++c_F3_2)
                            F_RM_2[c_F0_2 * 27 + c_F1_2 * 9 + c_F2_2 * 3 + c_F3_2] = c_F3_2 + 6 < 8 ?
                                    F_SM[c_F1_2 * 480 + c_F2_2 * 160 + c_F3_2 * 20 + thr_k * 2 + c_F0_2 +
                                    120] : 0.0f;
                    }
                }
            }
            #pragma unroll
            for (int q_5 = 0; q_5 < 2; ++q_5) {
                #pragma unroll
                for (int s_5 = 0; s_5 < 3; ++s_5) {
                    // 5: (de-)comp( ^, ^, 1, ^, ^, 1, ^ ) ( ^, ^ ; ^ ) ( ^, ^, ^, ^, ^, ^, ^ ) @unroll
                    #pragma unroll
                    for (int p_6 = 0; p_6 < 7; ++p_6) {
                        #pragma unroll
                        for (int k_6 = 0; k_6 < 2; ++k_6) {
                            #pragma unroll
                            for (int r_6 = 0; r_6 < 3; ++r_6) {
                                #pragma unroll
                                for (int c_6 = 0; c_6 < 3; ++c_6) {
                                    if (c_6 + 6 < 8)
                                        O_RM[p_6 * 4 + q_5 * 2 + k_6] += I_RM_2[p_6 * 12 + r_6 * 12 +
                                                q_5 * 3 + s_5 * 3 + c_6] * F_RM_2[k_6 * 27 + r_6 * 9 +
                                                s_5 * 3 + c_6];
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    #pragma unroll
    for (int p_6 = 0; p_6 < 7; ++p_6) {
        #pragma unroll
        for (int q_5 = 0; q_5 < 2; ++q_5)
            atomicAdd((float2 *)&O[blk_p * 25088 + p_6 * 3584 + thr_q * 128 + q_5 * 64 + blk_k * 16 +
                    thr_k * 2], *(const float2 *)&O_RM[p_6 * 4 + q_5 * 2]);
    }
}
