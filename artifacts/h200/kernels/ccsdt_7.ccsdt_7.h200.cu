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

extern "C" __global__ void __launch_bounds__(128, 1)
ccsdt_7_kernel(const float *__restrict__ lhs, const float *__restrict__ rhs, float *__restrict__ X)
{
    __shared__ __align__(16) float lhs_SM[3064];
    __shared__ __align__(16) float rhs_SM[1024];
    const int tid = (int)threadIdx.y * 16 + (int)threadIdx.x;
    const int thr_c = threadIdx.y;
    const int thr_f = threadIdx.x;
    const int group = (int)blockIdx.x / 24;
    const int in_group = (int)blockIdx.x % 24;
    const int blk_a = blockIdx.z;
    const int blk_d = in_group / 4;
    const int blk_e = group * 4 + in_group % 4;
    for (int b_1 = 0; b_1 < 2; ++b_1) {
        // 1: (de-)comp( 1, 8, ^, 4, 1, ^, ^ )
        //             ( ^, ^ ; ^ )
        //             ( BLK.z, ^, ^, BLK.x, BLK.y, ^, ^ ) @occupancy(1) @order(grouped(4))
        float X_RM[112] = {};
        // 2: (de-)comp( ^, ^, ^, ^, ^, ^, 8 )
        //             ( lhs:SM[1,3,2,4]@pad(4), rhs:SM[1,2,3,4]@copy(async) ; X:RM[1,2,3,4,5,6] )
        //             ( ^, ^, ^, ^, ^, ^, ^ ) @unroll(4) @stages(2)
        {
            cp_async_16(&rhs_SM[tid / 32 * 128 + tid / 4 % 8 * 16 + tid % 4 * 4], &rhs[blk_d * 24576 +
                    blk_e * 384 + tid / 32 * 6144 + tid / 4 % 8 * 16 + tid % 4 * 4]);
        }
        cp_async_commit();
        {
            #pragma unroll
            for (int c_lhs_round = 0; c_lhs_round < 2; ++c_lhs_round)
                *(float4 *)&lhs_SM[c_lhs_round * 768 + tid / 32 * 192 + tid / 2 % 16 * 12 + tid % 2 * 4] =
                        *(const float4 *)&lhs[c_lhs_round * 24576 + blk_a * 16 + b_1 * 8 + tid / 32 * 6144 +
                        tid / 2 % 16 * 384 + tid % 2 * 4];
        }
        #pragma unroll 4
        for (int g_2 = 0; g_2 < 3; ++g_2) {
            cp_async_wait<0>();
            __syncthreads();  // the slot is filled, and the one before it is free
            if (g_2 + 1 < 3) {
                const int fill_3 = (g_2 + 1) % 2;
                cp_async_16(&rhs_SM[fill_3 * 512 + tid / 32 * 128 + tid / 4 % 8 * 16 + tid % 4 * 4],
                        &rhs[blk_d * 24576 + blk_e * 384 + g_2 * 128 + 128 + tid / 32 * 6144 +
                        tid / 4 % 8 * 16 + tid % 4 * 4]);
            }
            cp_async_commit();
            __align__(16) float lhs_next[8];
            if (g_2 + 1 < 3) {
                #pragma unroll
                for (int c_lhs_round_2 = 0; c_lhs_round_2 < 2; ++c_lhs_round_2)
                    *(float4 *)&lhs_next[c_lhs_round_2 * 4] = *(const float4 *)&lhs[g_2 * 49152 +
                            c_lhs_round_2 * 24576 + blk_a * 16 + b_1 * 8 + 49152 + tid / 32 * 6144 +
                            tid / 2 % 16 * 384 + tid % 2 * 4];
            }
            const int slot_g_2 = g_2 % 2;
            // 3: (de-)comp( ^, ^, 2, ^, ^, 1, ^ ) ( ^, ^ ; ^ ) ( ^, ^, THR.y, ^, ^, THR.x, ^ )
            {
                // 4: (de-)comp( ^, 7, ^, ^, ^, ^, 3 )
                //             ( lhs:RM[1,2,3,4], ^ ; ^ )
                //             ( ^, ^, ^, ^, ^, ^, ^ ) @stages(2)
                float lhs_RM[42];
                #pragma unroll
                for (int c_lhs0 = 0; c_lhs0 < 3; ++c_lhs0) {
                    #pragma unroll
                    for (int c_lhs3 = 0; c_lhs3 < 7; ++c_lhs3)
                        lhs_RM[c_lhs0 * 7 + c_lhs3] = lhs_SM[slot_g_2 * 1532 + c_lhs0 * 192 + thr_f * 12 +
                                c_lhs3];
                }
                #pragma unroll
                for (int g_4 = 0; g_4 < 2; ++g_4) {
                    const int slot_g_4 = g_4 % 2;
                    if (g_4 + 1 <= 1) {
                        const int next_g_4 = g_4 + 1;
                        const int fill_5 = (slot_g_4 + 1) % 2;
                        #pragma unroll
                        for (int c_lhs0_2 = 0; c_lhs0_2 < 3; ++c_lhs0_2) {
                            #pragma unroll
                            for (int c_lhs3_2 = 0; c_lhs3_2 < 7; ++c_lhs3_2)
                                lhs_RM[fill_5 * 21 + c_lhs0_2 * 7 + c_lhs3_2] = lhs_SM[slot_g_2 * 1532 +
                                        next_g_4 * 576 + c_lhs0_2 * 192 + thr_f * 12 + c_lhs3_2];
                        }
                    }
                    #pragma unroll
                    for (int b_5 = 0; b_5 < 7; ++b_5) {
                        #pragma unroll
                        for (int c_5 = 0; c_5 < 2; ++c_5) {
                            #pragma unroll
                            for (int d_5 = 0; d_5 < 4; ++d_5) {
                                #pragma unroll
                                for (int g_5 = 0; g_5 < 3; ++g_5)
                                    X_RM[b_5 * 8 + c_5 * 4 + d_5] += lhs_RM[slot_g_4 * 21 + g_5 * 7 +
                                            b_5] * rhs_SM[slot_g_2 * 512 + d_5 * 128 + g_4 * 48 + g_5 * 16 +
                                            thr_c * 2 + c_5];
                            }
                        }
                    }
                }
                {
                    // 4: (de-)comp( ^, 7, ^, ^, ^, ^, 3 )
                    //             ( lhs:RM[1,2,3,4], ^ ; ^ )
                    //             ( ^, ^, ^, ^, ^, ^, ^ ) @stages(2)
                    float lhs_RM_2[21];
                    #pragma unroll
                    for (int c_lhs0_3 = 0; c_lhs0_3 < 3; ++c_lhs0_3) {
                        #pragma unroll
                        for (int c_lhs3_3 = 0; c_lhs3_3 < 7; ++c_lhs3_3)
                            lhs_RM_2[c_lhs0_3 * 7 + c_lhs3_3] = c_lhs0_3 + 6 < 8 ? lhs_SM[slot_g_2 * 1532 +
                                    c_lhs0_3 * 192 + thr_f * 12 + c_lhs3_3 + 1152] : 0.0f;
                    }
                    #pragma unroll
                    for (int b_5 = 0; b_5 < 7; ++b_5) {
                        #pragma unroll
                        for (int c_5 = 0; c_5 < 2; ++c_5) {
                            #pragma unroll
                            for (int d_5 = 0; d_5 < 4; ++d_5) {
                                #pragma unroll
                                for (int g_5 = 0; g_5 < 3; ++g_5) {
                                    if (g_5 + 6 < 8)
                                        X_RM[b_5 * 8 + c_5 * 4 + d_5] += lhs_RM_2[g_5 * 7 +
                                                b_5] * rhs_SM[slot_g_2 * 512 + d_5 * 128 + g_5 * 16 +
                                                thr_c * 2 + c_5 + 96];
                                }
                            }
                        }
                    }
                }
            }
            {
                // 4: (de-)comp( ^, 7, ^, ^, ^, ^, 3 )
                //             ( lhs:RM[1,2,3,4], ^ ; ^ )
                //             ( ^, ^, ^, ^, ^, ^, ^ ) @stages(2)
                float lhs_RM_3[42];
                #pragma unroll
                for (int c_lhs0_4 = 0; c_lhs0_4 < 3; ++c_lhs0_4) {
                    #pragma unroll
                    for (int c_lhs3_4 = 0; c_lhs3_4 < 7; ++c_lhs3_4)
                        lhs_RM_3[c_lhs0_4 * 7 + c_lhs3_4] = c_lhs3_4 + 7 < 8 ? lhs_SM[slot_g_2 * 1532 +
                                c_lhs0_4 * 192 + thr_f * 12 + c_lhs3_4 + 7] : 0.0f;
                }
                #pragma unroll
                for (int g_4 = 0; g_4 < 2; ++g_4) {
                    const int slot_g_4_2 = g_4 % 2;
                    if (g_4 + 1 <= 1) {
                        const int next_g_4_2 = g_4 + 1;
                        const int fill_6 = (slot_g_4_2 + 1) % 2;
                        #pragma unroll
                        for (int c_lhs0_5 = 0; c_lhs0_5 < 3; ++c_lhs0_5) {
                            #pragma unroll
                            for (int c_lhs3_5 = 0; c_lhs3_5 < 7; ++c_lhs3_5)
                                lhs_RM_3[fill_6 * 21 + c_lhs0_5 * 7 + c_lhs3_5] = c_lhs3_5 + 7 < 8 ?
                                        lhs_SM[slot_g_2 * 1532 + next_g_4_2 * 576 + c_lhs0_5 * 192 +
                                        thr_f * 12 + c_lhs3_5 + 7] : 0.0f;
                        }
                    }
                    #pragma unroll
                    for (int b_5 = 0; b_5 < 7; ++b_5) {
                        #pragma unroll
                        for (int c_5 = 0; c_5 < 2; ++c_5) {
                            #pragma unroll
                            for (int d_5 = 0; d_5 < 4; ++d_5) {
                                #pragma unroll
                                for (int g_5 = 0; g_5 < 3; ++g_5)
                                    X_RM[b_5 * 8 + c_5 * 4 + d_5 + 56] += lhs_RM_3[slot_g_4_2 * 21 +
                                            g_5 * 7 + b_5] * rhs_SM[slot_g_2 * 512 + d_5 * 128 + g_4 * 48 +
                                            g_5 * 16 + thr_c * 2 + c_5];
                            }
                        }
                    }
                }
                {
                    // 4: (de-)comp( ^, 7, ^, ^, ^, ^, 3 )
                    //             ( lhs:RM[1,2,3,4], ^ ; ^ )
                    //             ( ^, ^, ^, ^, ^, ^, ^ ) @stages(2)
                    float lhs_RM_4[21];
                    #pragma unroll
                    for (int c_lhs0_6 = 0; c_lhs0_6 < 3; ++c_lhs0_6) {
                        #pragma unroll
                        for (int c_lhs3_6 = 0; c_lhs3_6 < 7; ++c_lhs3_6)
                            lhs_RM_4[c_lhs0_6 * 7 + c_lhs3_6] = c_lhs0_6 + 6 < 8 && c_lhs3_6 + 7 < 8 ?
                                    lhs_SM[slot_g_2 * 1532 + c_lhs0_6 * 192 + thr_f * 12 + c_lhs3_6 + 1159] :
                                    0.0f;
                    }
                    #pragma unroll
                    for (int b_5 = 0; b_5 < 7; ++b_5) {
                        #pragma unroll
                        for (int c_5 = 0; c_5 < 2; ++c_5) {
                            #pragma unroll
                            for (int d_5 = 0; d_5 < 4; ++d_5) {
                                #pragma unroll
                                for (int g_5 = 0; g_5 < 3; ++g_5) {
                                    if (b_5 + 7 < 8 && g_5 + 6 < 8)
                                        X_RM[b_5 * 8 + c_5 * 4 + d_5 + 56] += lhs_RM_4[g_5 * 7 +
                                                b_5] * rhs_SM[slot_g_2 * 512 + d_5 * 128 + g_5 * 16 +
                                                thr_c * 2 + c_5 + 96];
                                }
                            }
                        }
                    }
                }
            }
            if (g_2 + 1 < 3) {
                const int fill_4 = (g_2 + 1) % 2;
                #pragma unroll
                for (int c_lhs_round_2 = 0; c_lhs_round_2 < 2; ++c_lhs_round_2)
                    *(float4 *)&lhs_SM[fill_4 * 1532 + c_lhs_round_2 * 768 + tid / 32 * 192 +
                            tid / 2 % 16 * 12 + tid % 2 * 4] = *(const float4 *)&lhs_next[c_lhs_round_2 * 4];
            }
        }
        __syncthreads();  // all slots are free again
        #pragma unroll
        for (int b_4 = 0; b_4 < 2; ++b_4) {
            #pragma unroll
            for (int b_5 = 0; b_5 < 7; ++b_5) {
                #pragma unroll
                for (int c_5 = 0; c_5 < 2; ++c_5) {
                    #pragma unroll
                    for (int d_5 = 0; d_5 < 4; ++d_5) {
                        if (b_4 * 7 + b_5 < 8)
                            X[blk_a * 1572864 + b_1 * 786432 + b_4 * 688128 + b_5 * 98304 + thr_c * 12288 +
                                    c_5 * 6144 + blk_d * 1024 + d_5 * 256 + blk_e * 16 + thr_f] =
                                    X_RM[b_4 * 56 + b_5 * 8 + c_5 * 4 + d_5];
                    }
                }
            }
        }
    }
}
