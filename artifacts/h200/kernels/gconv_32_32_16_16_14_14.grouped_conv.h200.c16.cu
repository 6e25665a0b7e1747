__device__ __forceinline__ void cp_async_8(void *dst, const void *src)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;"
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

extern "C" __global__ void __launch_bounds__(96)
grouped_conv_kernel(const float *I, const float *weight, float *O)
{
    __shared__ __align__(16) float I_SM[784];
    __shared__ __align__(16) float weight_SM[356];
    asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernels in front have ended
    const int tid = (int)threadIdx.z * 48 + ((int)threadIdx.y * 6 + (int)threadIdx.x);
    const int thr_n = threadIdx.z;
    const int thr_f = threadIdx.y;
    const int thr_q = threadIdx.x;
    const int blk_n = blockIdx.y;
    const int blk_g = blockIdx.x;
    // 1: (de-)comp( 2, 1, ^, ^, ^, ^, ^, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^, ^, ^, ^, ^, ^ )
    __align__(8) float O_RM[48] = {};
    for (int c_2 = 0; c_2 < 8; ++c_2) {
        // 2: (de-)comp( ^, ^, ^, ^, ^, 2, ^, ^ )
        //             ( I:SM[1,2,3,4,5]@copy(async), weight:SM[1,3,4,5,2]@pad(4) ; O:RM[1,2,3,4,5] )
        //             ( ^, ^, ^, ^, ^, ^, ^, ^ )
        __syncthreads();  // I_SM has been read
        #pragma unroll
        for (int c_I_round = 0; c_I_round < 5; ++c_I_round) {
            if (c_I_round * 96 + tid < 392) {
                const int c_I = c_I_round * 96 + tid;
                cp_async_8(&I_SM[c_I / 196 * 392 + c_I / 98 % 2 * 196 + c_I / 7 % 14 * 14 + c_I % 7 * 2],
                        &I[blk_n * 200704 + blk_g * 3136 + c_2 * 392 + c_I / 196 * 100352 +
                        c_I / 98 % 2 * 196 + c_I / 7 % 14 * 14 + c_I % 7 * 2]);
            }
        }
        #pragma unroll
        for (int c_weight_round = 0; c_weight_round < 3; ++c_weight_round) {
            const int c_weight = c_weight_round * 96 + tid;
            weight_SM[c_weight / 18 + c_weight / 9 % 2 * 180 + c_weight / 3 % 3 * 60 + c_weight % 3 * 20] =
                    weight[blk_g * 2304 + c_2 * 18 + c_weight / 18 * 144 + c_weight / 9 % 2 * 9 +
                    c_weight / 3 % 3 * 3 + c_weight % 3];
        }
        cp_async_commit();
        cp_async_wait<0>();
        __syncthreads();  // I_SM is filled
        #pragma unroll
        for (int p_3 = 0; p_3 < 12; ++p_3) {
            // 3: (de-)comp( 1, ^, 2, 1, 2, ^, ^, ^ ) ( ^, ^ ; ^ ) ( THR.z, ^, THR.y, ^, THR.x, ^, ^, ^ )
            #pragma unroll
            for (int c_4 = 0; c_4 < 2; ++c_4) {
                // 4: (de-)comp( ^, ^, ^, ^, ^, 1, ^, ^ ) ( ^, ^ ; ^ ) ( ^, ^, ^, ^, ^, ^, ^, ^ ) @unroll
                #pragma unroll
                for (int r_5 = 0; r_5 < 3; ++r_5) {
                    // 5: (de-)comp( ^, ^, ^, ^, ^, ^, 1, 2 )
                    //             ( ^, weight:RM[1,2,3,4,5] ; ^ )
                    //             ( ^, ^, ^, ^, ^, ^, ^, ^ ) @unroll @stages(4)
                    float weight_RM[16];
                    #pragma unroll
                    for (int c_weight1 = 0; c_weight1 < 2; ++c_weight1) {
                        #pragma unroll
                        for (int c_weight4 = 0; c_weight4 < 2; ++c_weight4)
                            weight_RM[c_weight1 * 2 + c_weight4] = weight_SM[c_4 * 180 + r_5 * 60 +
                                    c_weight4 * 20 + thr_f * 2 + c_weight1];
                    }
                    {
                        if (3 <= 0) {
                            #pragma unroll
                            for (int c_weight1_2 = 0; c_weight1_2 < 2; ++c_weight1_2) {
                                #pragma unroll
                                for (int c_weight4_2 = 0; c_weight4_2 < 2; ++c_weight4_2)
                                    weight_RM[c_weight1_2 * 2 + c_weight4_2 + 12] = weight_SM[c_4 * 180 +
                                            r_5 * 60 + c_weight4_2 * 20 + thr_f * 2 + c_weight1_2 + 120];
                            }
                        }
                        #pragma unroll
                        for (int f_6 = 0; f_6 < 2; ++f_6) {
                            #pragma unroll
                            for (int q_6 = 0; q_6 < 2; ++q_6) {
                                #pragma unroll
                                for (int s_6 = 0; s_6 < 2; ++s_6)
                                    O_RM[f_6 * 24 + p_3 * 2 + q_6] += I_SM[thr_n * 392 + c_4 * 196 +
                                            p_3 * 14 + r_5 * 14 + thr_q * 2 + q_6 +
                                            s_6] * weight_RM[f_6 * 2 + s_6];
                            }
                        }
                    }
                    {
                        // 5: (de-)comp( ^, ^, ^, ^, ^, ^, 1, 2 )
                        //             ( ^, weight:RM[1,2,3,4,5] ; ^ )
                        //             ( ^, ^, ^, ^, ^, ^, ^, ^ ) @unroll @stages(4)
                        float weight_RM_2[4];
                        #pragma unroll
                        for (int c_weight1_3 = 0; c_weight1_3 < 2; ++c_weight1_3) {
                            #pragma unroll
                            for (int c_weight4_3 = 0; c_weight4_3 < 2; ++c_weight4_3)
                                weight_RM_2[c_weight1_3 * 2 + c_weight4_3] = c_weight4_3 + 2 < 3 ?
                                        weight_SM[c_4 * 180 + r_5 * 60 + c_weight4_3 * 20 + thr_f * 2 +
                                        c_weight1_3 + 40] : 0.0f;
                        }
                        #pragma unroll
                        for (int f_6 = 0; f_6 < 2; ++f_6) {
                            #pragma unroll
                            for (int q_6 = 0; q_6 < 2; ++q_6) {
                                #pragma unroll
                                for (int s_6 = 0; s_6 < 2; ++s_6) {
                                    if (s_6 + 2 < 3)
                                        O_RM[f_6 * 24 + p_3 * 2 + q_6] += I_SM[thr_n * 392 + c_4 * 196 +
                                                p_3 * 14 + r_5 * 14 + thr_q * 2 + q_6 + s_6 +
                                                2] * weight_RM_2[f_6 * 2 + s_6];
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    #pragma unroll
    for (int f_6 = 0; f_6 < 2; ++f_6) {
        #pragma unroll
        for (int p_3 = 0; p_3 < 12; ++p_3)
            *(float2 *)&O[blk_n * 147456 + thr_n * 73728 + blk_g * 2304 + thr_f * 288 + f_6 * 144 +
                    p_3 * 12 + thr_q * 2] = *(const float2 *)&O_RM[f_6 * 24 + p_3 * 2];
    }
}
