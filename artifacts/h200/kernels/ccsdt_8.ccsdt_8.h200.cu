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

extern "C" __global__ void __launch_bounds__(96)
ccsdt_8_kernel(const float *__restrict__ lhs, const float *__restrict__ rhs, float *__restrict__ X)
{
    __shared__ __align__(16) float lhs_SM[3832];
    __shared__ __align__(16) float rhs_SM[1152];
    const int tid = (int)threadIdx.y * 16 + (int)threadIdx.x;
    const int thr_a = threadIdx.y;
    const int thr_f = threadIdx.x;
    const int blk_b = blockIdx.y;
    const int blk_d = blockIdx.z;
    const int blk_e = blockIdx.x;
    for (int c_1 = 0; c_1 < 2; ++c_1) {
        // 1: (de-)comp( ^, 1, 8, 2, 1, ^, ^ ) ( ^, ^ ; ^ ) ( ^, BLK.y, ^, BLK.z, BLK.x, ^, ^ )
        float X_RM[64] = {};
        // 2: (de-)comp( ^, ^, ^, ^, ^, ^, 12 )
        //             ( lhs:SM[1,3,4,2]@pad(4), rhs:SM[1,2,3,4]@copy(async) ; X:RM[1,2,3,4,5,6] )
        //             ( ^, ^, ^, ^, ^, ^, ^ ) @stages(2)
        {
            #pragma unroll
            for (int c_rhs_round = 0; c_rhs_round < 2; ++c_rhs_round) {
                if (c_rhs_round * 96 + tid < 144) {
                    const int c_rhs = c_rhs_round * 96 + tid;
                    cp_async_16(&rhs_SM[c_rhs / 72 * 288 + c_rhs / 6 % 12 * 24 + c_rhs % 6 * 4],
                            &rhs[blk_d * 18432 + blk_e * 576 + c_rhs / 72 * 9216 + c_rhs / 6 % 12 * 24 +
                            c_rhs % 6 * 4]);
                }
            }
        }
        cp_async_commit();
        {
            #pragma unroll
            for (int c_lhs_round = 0; c_lhs_round < 4; ++c_lhs_round) {
                __align__(16) float lhs_row[4];
                *(float4 *)&lhs_row[0] = *(const float4 *)&lhs[c_lhs_round * 12288 + blk_b * 16 + c_1 * 8 +
                        tid / 32 * 4096 + tid / 2 % 16 * 256 + tid % 2 * 4];
                #pragma unroll
                for (int lane = 0; lane < 4; ++lane)
                    lhs_SM[c_lhs_round * 480 + lane * 20 + tid / 32 * 160 + tid / 2 % 16 + tid % 2 * 80] =
                            lhs_row[lane];
            }
        }
        for (int g_2 = 0; g_2 < 2; ++g_2) {
            cp_async_wait<0>();
            __syncthreads();  // the slot is filled, and the one before it is free
            if (g_2 + 1 < 2) {
                const int fill_3 = (g_2 + 1) % 2;
                #pragma unroll
                for (int c_rhs_round_2 = 0; c_rhs_round_2 < 2; ++c_rhs_round_2) {
                    if (c_rhs_round_2 * 96 + tid < 144) {
                        const int c_rhs_2 = c_rhs_round_2 * 96 + tid;
                        cp_async_16(&rhs_SM[fill_3 * 576 + c_rhs_2 / 72 * 288 + c_rhs_2 / 6 % 12 * 24 +
                                c_rhs_2 % 6 * 4], &rhs[blk_d * 18432 + blk_e * 576 + g_2 * 288 + 288 +
                                c_rhs_2 / 72 * 9216 + c_rhs_2 / 6 % 12 * 24 + c_rhs_2 % 6 * 4]);
                    }
                }
            }
            cp_async_commit();
            __align__(16) float lhs_next[16];
            if (g_2 + 1 < 2) {
                #pragma unroll
                for (int c_lhs_round_2 = 0; c_lhs_round_2 < 4; ++c_lhs_round_2)
                    *(float4 *)&lhs_next[c_lhs_round_2 * 4] = *(const float4 *)&lhs[g_2 * 49152 +
                            c_lhs_round_2 * 12288 + blk_b * 16 + c_1 * 8 + 49152 + tid / 32 * 4096 +
                            tid / 2 % 16 * 256 + tid % 2 * 4];
            }
            const int slot_g_2 = g_2 % 2;
            // 3: (de-)comp( 4, ^, ^, ^, ^, 1, ^ ) ( ^, ^ ; ^ ) ( THR.y, ^, ^, ^, ^, THR.x, ^ )
            // 4: (de-)comp( ^, ^, ^, ^, ^, ^, 1 )
            //             ( lhs:RM[1,2,3,4], rhs:RM[1,2,3,4] ; ^ )
            //             ( ^, ^, ^, ^, ^, ^, ^ ) @unroll @stages(4)
            float lhs_RM[32];
            __align__(16) float rhs_RM[32];
            #pragma unroll
            for (int c_lhs3 = 0; c_lhs3 < 8; ++c_lhs3)
                lhs_RM[c_lhs3] = lhs_SM[slot_g_2 * 1916 + c_lhs3 * 20 + thr_f];
            #pragma unroll
            for (int c_rhs0 = 0; c_rhs0 < 2; ++c_rhs0)
                *(float4 *)&rhs_RM[c_rhs0 * 4] = *(const float4 *)&rhs_SM[slot_g_2 * 576 + c_rhs0 * 288 +
                        thr_a * 4];
            #pragma unroll
            for (int c_lhs3_2 = 0; c_lhs3_2 < 8; ++c_lhs3_2)
                lhs_RM[c_lhs3_2 + 8] = lhs_SM[slot_g_2 * 1916 + c_lhs3_2 * 20 + thr_f + 160];
            #pragma unroll
            for (int c_rhs0_2 = 0; c_rhs0_2 < 2; ++c_rhs0_2)
                *(float4 *)&rhs_RM[c_rhs0_2 * 4 + 8] = *(const float4 *)&rhs_SM[slot_g_2 * 576 +
                        c_rhs0_2 * 288 + thr_a * 4 + 24];
            #pragma unroll
            for (int c_lhs3_3 = 0; c_lhs3_3 < 8; ++c_lhs3_3)
                lhs_RM[c_lhs3_3 + 16] = lhs_SM[slot_g_2 * 1916 + c_lhs3_3 * 20 + thr_f + 320];
            #pragma unroll
            for (int c_rhs0_3 = 0; c_rhs0_3 < 2; ++c_rhs0_3)
                *(float4 *)&rhs_RM[c_rhs0_3 * 4 + 16] = *(const float4 *)&rhs_SM[slot_g_2 * 576 +
                        c_rhs0_3 * 288 + thr_a * 4 + 48];
            #pragma unroll
            for (int g_4 = 0; g_4 < 12; ++g_4) {
                const int slot_g_4 = g_4 % 4;
                if (g_4 + 3 <= 11) {
                    const int next_g_4 = g_4 + 3;
                    const int fill_5 = (slot_g_4 + 3) % 4;
                    #pragma unroll
                    for (int c_lhs3_4 = 0; c_lhs3_4 < 8; ++c_lhs3_4)
                        lhs_RM[fill_5 * 8 + c_lhs3_4] = lhs_SM[slot_g_2 * 1916 + next_g_4 * 160 +
                                c_lhs3_4 * 20 + thr_f];
                    #pragma unroll
                    for (int c_rhs0_4 = 0; c_rhs0_4 < 2; ++c_rhs0_4)
                        *(float4 *)&rhs_RM[fill_5 * 8 + c_rhs0_4 * 4] =
                                *(const float4 *)&rhs_SM[slot_g_2 * 576 + c_rhs0_4 * 288 + next_g_4 * 24 +
                                thr_a * 4];
                }
                #pragma unroll
                for (int a_5 = 0; a_5 < 4; ++a_5) {
                    #pragma unroll
                    for (int c_5 = 0; c_5 < 8; ++c_5) {
                        #pragma unroll
                        for (int d_5 = 0; d_5 < 2; ++d_5)
                            X_RM[a_5 * 16 + c_5 * 2 + d_5] += lhs_RM[slot_g_4 * 8 +
                                    c_5] * rhs_RM[slot_g_4 * 8 + d_5 * 4 + a_5];
                    }
                }
            }
            if (g_2 + 1 < 2) {
                const int fill_4 = (g_2 + 1) % 2;
                #pragma unroll
                for (int c_lhs_round_2 = 0; c_lhs_round_2 < 4; ++c_lhs_round_2) {
                    lhs_SM[fill_4 * 1916 + c_lhs_round_2 * 480 + tid / 32 * 160 + tid / 2 % 16 +
                            tid % 2 * 80] = lhs_next[c_lhs_round_2 * 4];
                    lhs_SM[fill_4 * 1916 + c_lhs_round_2 * 480 + 20 + tid / 32 * 160 + tid / 2 % 16 +
                            tid % 2 * 80] = lhs_next[c_lhs_round_2 * 4 + 1];
                    lhs_SM[fill_4 * 1916 + c_lhs_round_2 * 480 + 40 + tid / 32 * 160 + tid / 2 % 16 +
                            tid % 2 * 80] = lhs_next[c_lhs_round_2 * 4 + 2];
                    lhs_SM[fill_4 * 1916 + c_lhs_round_2 * 480 + 60 + tid / 32 * 160 + tid / 2 % 16 +
                            tid % 2 * 80] = lhs_next[c_lhs_round_2 * 4 + 3];
                }
            }
        }
        __syncthreads();  // all slots are free again
        #pragma unroll
        for (int a_5 = 0; a_5 < 4; ++a_5) {
            #pragma unroll
            for (int c_5 = 0; c_5 < 8; ++c_5) {
                #pragma unroll
                for (int d_5 = 0; d_5 < 2; ++d_5)
                    X[thr_a * 6291456 + a_5 * 1572864 + blk_b * 98304 + c_1 * 49152 + c_5 * 6144 +
                            blk_d * 512 + d_5 * 256 + blk_e * 16 + thr_f] = X_RM[a_5 * 16 + c_5 * 2 + d_5];
            }
        }
    }
}
