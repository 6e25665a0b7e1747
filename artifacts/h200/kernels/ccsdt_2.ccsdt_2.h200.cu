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

extern "C" __global__ void __launch_bounds__(128)
ccsdt_2_kernel(const float *__restrict__ lhs, const float *__restrict__ rhs, float *__restrict__ X)
{
    __shared__ __align__(16) float lhs_SM[1024];
    __shared__ __align__(16) float rhs_SM[3064];
    const int tid = (int)threadIdx.y * 16 + (int)threadIdx.x;
    const int thr_c = threadIdx.y;
    const int thr_f = threadIdx.x;
    const int blk_a = blockIdx.z;
    const int blk_d = blockIdx.y;
    const int blk_e = blockIdx.x;
    for (int b_1 = 0; b_1 < 2; ++b_1) {
        // 1: (de-)comp( 4, 8, ^, 1, 1, ^, ^ ) ( ^, ^ ; ^ ) ( BLK.z, ^, ^, BLK.y, BLK.x, ^, ^ )
        float X_RM[64] = {};
        // 2: (de-)comp( ^, ^, ^, ^, ^, ^, 8 )
        //             ( lhs:SM[1,2,3,4]@copy(async), rhs:SM[1,3,2,4]@pad(4) ; X:RM[1,2,3,4,5,6] )
        //             ( ^, ^, ^, ^, ^, ^, ^ ) @stages(2) @unroll
        {
            cp_async_16(&lhs_SM[tid / 16 * 64 + tid / 4 % 4 * 16 + tid % 4 * 4], &lhs[blk_d * 384 +
                    blk_a * 64 + tid / 16 * 6144 + tid / 4 % 4 * 16 + tid % 4 * 4]);
        }
        cp_async_commit();
        {
            #pragma unroll
            for (int c_rhs_round = 0; c_rhs_round < 2; ++c_rhs_round)
                *(float4 *)&rhs_SM[c_rhs_round * 96 + tid / 16 * 12 + tid / 2 % 8 * 192 + tid % 2 * 4] =
                        *(const float4 *)&rhs[blk_e * 6144 + c_rhs_round * 3072 + b_1 * 8 + tid / 16 * 384 +
                        tid / 2 % 8 * 16 + tid % 2 * 4];
        }
        #pragma unroll
        for (int g_2 = 0; g_2 < 3; ++g_2) {
            cp_async_wait<0>();
            __syncthreads();  // the slot is filled, and the one before it is free
            if (g_2 + 1 < 3) {
                const int fill_3 = (g_2 + 1) % 2;
                cp_async_16(&lhs_SM[fill_3 * 512 + tid / 16 * 64 + tid / 4 % 4 * 16 + tid % 4 * 4],
                        &lhs[g_2 * 49152 + blk_d * 384 + blk_a * 64 + 49152 + tid / 16 * 6144 +
                        tid / 4 % 4 * 16 + tid % 4 * 4]);
            }
            cp_async_commit();
            __align__(16) float rhs_next[8];
            if (g_2 + 1 < 3) {
                #pragma unroll
                for (int c_rhs_round_2 = 0; c_rhs_round_2 < 2; ++c_rhs_round_2)
                    *(float4 *)&rhs_next[c_rhs_round_2 * 4] = *(const float4 *)&rhs[blk_e * 6144 +
                            c_rhs_round_2 * 3072 + g_2 * 128 + b_1 * 8 + 128 + tid / 16 * 384 +
                            tid / 2 % 8 * 16 + tid % 2 * 4];
            }
            const int slot_g_2 = g_2 % 2;
            // 3: (de-)comp( ^, ^, 2, ^, ^, 1, ^ ) ( ^, ^ ; ^ ) ( ^, ^, THR.y, ^, ^, THR.x, ^ )
            // 4: (de-)comp( ^, ^, ^, ^, ^, ^, 3 )
            //             ( lhs:RM[1,2,3,4], rhs:RM[1,2,3,4] ; ^ )
            //             ( ^, ^, ^, ^, ^, ^, ^ ) @stages(2)
            __align__(8) float lhs_RM[48];
            __align__(16) float rhs_RM[48];
            #pragma unroll
            for (int c_lhs0 = 0; c_lhs0 < 3; ++c_lhs0) {
                #pragma unroll
                for (int c_lhs2 = 0; c_lhs2 < 4; ++c_lhs2)
                    *(float2 *)&lhs_RM[c_lhs0 * 8 + c_lhs2 * 2] = *(const float2 *)&lhs_SM[slot_g_2 * 512 +
                            c_lhs0 * 64 + c_lhs2 * 16 + thr_c * 2];
            }
            #pragma unroll
            for (int c_rhs2 = 0; c_rhs2 < 3; ++c_rhs2) {
                #pragma unroll
                for (int c_rhs3 = 0; c_rhs3 < 8; c_rhs3 += 4)
                    *(float4 *)&rhs_RM[c_rhs2 * 8 + c_rhs3] = *(const float4 *)&rhs_SM[slot_g_2 * 1532 +
                            c_rhs2 * 192 + thr_f * 12 + c_rhs3];
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
                        for (int c_lhs2_2 = 0; c_lhs2_2 < 4; ++c_lhs2_2)
                            *(float2 *)&lhs_RM[fill_5 * 24 + c_lhs0_2 * 8 + c_lhs2_2 * 2] =
                                    *(const float2 *)&lhs_SM[slot_g_2 * 512 + next_g_4 * 192 +
                                    c_lhs0_2 * 64 + c_lhs2_2 * 16 + thr_c * 2];
                    }
                    #pragma unroll
                    for (int c_rhs2_2 = 0; c_rhs2_2 < 3; ++c_rhs2_2) {
                        #pragma unroll
                        for (int c_rhs3_2 = 0; c_rhs3_2 < 8; c_rhs3_2 += 4)
                            *(float4 *)&rhs_RM[fill_5 * 24 + c_rhs2_2 * 8 + c_rhs3_2] =
                                    *(const float4 *)&rhs_SM[slot_g_2 * 1532 + next_g_4 * 576 +
                                    c_rhs2_2 * 192 + thr_f * 12 + c_rhs3_2];
                    }
                }
                #pragma unroll
                for (int a_5 = 0; a_5 < 4; ++a_5) {
                    #pragma unroll
                    for (int b_5 = 0; b_5 < 8; ++b_5) {
                        #pragma unroll
                        for (int c_5 = 0; c_5 < 2; ++c_5) {
                            #pragma unroll
                            for (int g_5 = 0; g_5 < 3; ++g_5)
                                X_RM[a_5 * 16 + b_5 * 2 + c_5] += lhs_RM[slot_g_4 * 24 + g_5 * 8 + a_5 * 2 +
                                        c_5] * rhs_RM[slot_g_4 * 24 + g_5 * 8 + b_5];
                        }
                    }
                }
            }
            {
                // 4: (de-)comp( ^, ^, ^, ^, ^, ^, 3 )
                //             ( lhs:RM[1,2,3,4], rhs:RM[1,2,3,4] ; ^ )
                //             ( ^, ^, ^, ^, ^, ^, ^ ) @stages(2)
                __align__(8) float lhs_RM_2[24];
                #pragma unroll
                for (int c_lhs0_3 = 0; c_lhs0_3 < 3; ++c_lhs0_3) {
                    #pragma unroll
                    for (int c_lhs2_3 = 0; c_lhs2_3 < 4; ++c_lhs2_3)
                        *(float2 *)&lhs_RM_2[c_lhs0_3 * 8 + c_lhs2_3 * 2] = c_lhs0_3 + 6 < 8 ?
                                *(const float2 *)&lhs_SM[slot_g_2 * 512 + c_lhs0_3 * 64 + c_lhs2_3 * 16 +
                                thr_c * 2 + 384] : make_float2(0.0f, 0.0f);
                }
                __align__(16) float rhs_RM_2[24];
                #pragma unroll
                for (int c_rhs2_3 = 0; c_rhs2_3 < 3; ++c_rhs2_3) {
                    #pragma unroll
                    for (int c_rhs3_3 = 0; c_rhs3_3 < 8; c_rhs3_3 += 4)
                        *(float4 *)&rhs_RM_2[c_rhs2_3 * 8 + c_rhs3_3] = c_rhs2_3 + 6 < 8 ?
                                *(const float4 *)&rhs_SM[slot_g_2 * 1532 + c_rhs2_3 * 192 + thr_f * 12 +
                                c_rhs3_3 + 1152] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
                }
                #pragma unroll
                for (int a_5 = 0; a_5 < 4; ++a_5) {
                    #pragma unroll
                    for (int b_5 = 0; b_5 < 8; ++b_5) {
                        #pragma unroll
                        for (int c_5 = 0; c_5 < 2; ++c_5) {
                            #pragma unroll
                            for (int g_5 = 0; g_5 < 3; ++g_5) {
                                if (g_5 + 6 < 8)
                                    X_RM[a_5 * 16 + b_5 * 2 + c_5] += lhs_RM_2[g_5 * 8 + a_5 * 2 +
                                            c_5] * rhs_RM_2[g_5 * 8 + b_5];
                            }
                        }
                    }
                }
            }
            if (g_2 + 1 < 3) {
                const int fill_4 = (g_2 + 1) % 2;
                #pragma unroll
                for (int c_rhs_round_2 = 0; c_rhs_round_2 < 2; ++c_rhs_round_2)
                    *(float4 *)&rhs_SM[fill_4 * 1532 + c_rhs_round_2 * 96 + tid / 16 * 12 +
                            tid / 2 % 8 * 192 + tid % 2 * 4] = *(const float4 *)&rhs_next[c_rhs_round_2 * 4];
            }
        }
        __syncthreads();  // all slots are free again
        #pragma unroll
        for (int a_5 = 0; a_5 < 4; ++a_5) {
            #pragma unroll
            for (int b_5 = 0; b_5 < 8; ++b_5) {
                #pragma unroll
                for (int c_5 = 0; c_5 < 2; ++c_5)
                    X[blk_a * 6291456 + a_5 * 1572864 + b_1 * 786432 + b_5 * 98304 + thr_c * 12288 +
                            c_5 * 6144 + blk_d * 384 + blk_e * 16 + thr_f] = X_RM[a_5 * 16 + b_5 * 2 + c_5];
            }
        }
    }
}
