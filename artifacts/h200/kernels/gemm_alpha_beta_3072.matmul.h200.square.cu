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

extern "C" __global__ void __launch_bounds__(128, 2)
matmul_scaled_kernel(const float *A, const float *B, float *C, float alpha, float beta)
{
    __shared__ __align__(16) float A_SM[2168];
    __shared__ __align__(16) float B_SM[4096];
    asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernels in front have ended
    const int tid = threadIdx.x;
    const int wrp_i = tid / 64;
    const int thr_i = tid / 16 % 2;
    const int thr_i_2 = tid % 2;
    const int wrp_j = tid / 32 % 2;
    const int thr_j = tid / 2 % 8;
    const int group = (int)blockIdx.x / 192;
    const int in_group = (int)blockIdx.x % 192;
    const int blk_i = group * 8 + in_group % 8;
    const int blk_j = in_group / 8;
    // 1: (de-)comp( 64, 128, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ ) @order(grouped(8)) @occupancy(2)
    float C_RM[64] = {};
    // 2: (de-)comp( ^, ^, 16 )
    //             ( A:SM[2,1]@pad(4), B:SM[1,2]@copy(async) ; C:RM[1,2] )
    //             ( ^, ^, FOR.1 ) @stages(2)
    {
        #pragma unroll
        for (int c_B_round = 0; c_B_round < 4; ++c_B_round)
            cp_async_16(&B_SM[c_B_round * 512 + tid / 32 * 128 + tid % 32 * 4], &B[c_B_round * 12288 +
                    blk_j * 128 + tid / 32 * 3072 + tid % 32 * 4]);
    }
    cp_async_commit();
    {
        #pragma unroll
        for (int c_A_round = 0; c_A_round < 2; ++c_A_round) {
            __align__(16) float A_row[4];
            *(float4 *)&A_row[0] = *(const float4 *)&A[blk_i * 196608 + c_A_round * 98304 + tid / 4 * 3072 +
                    tid % 4 * 4];
            #pragma unroll
            for (int lane = 0; lane < 4; ++lane)
                A_SM[lane * 68 + c_A_round * 32 + tid / 4 + tid % 4 * 272] = A_row[lane];
        }
    }
    for (int k_2 = 0; k_2 < 192; ++k_2) {
        cp_async_wait<0>();
        __syncthreads();  // the slot is filled, and the one before it is free
        if (k_2 + 1 < 192) {
            const int fill_3 = (k_2 + 1) % 2;
            #pragma unroll
            for (int c_B_round_2 = 0; c_B_round_2 < 4; ++c_B_round_2)
                cp_async_16(&B_SM[fill_3 * 2048 + c_B_round_2 * 512 + tid / 32 * 128 + tid % 32 * 4],
                        &B[k_2 * 49152 + c_B_round_2 * 12288 + blk_j * 128 + 49152 + tid / 32 * 3072 +
                        tid % 32 * 4]);
        }
        cp_async_commit();
        __align__(16) float A_next[8];
        if (k_2 + 1 < 192) {
            #pragma unroll
            for (int c_A_round_2 = 0; c_A_round_2 < 2; ++c_A_round_2)
                *(float4 *)&A_next[c_A_round_2 * 4] = *(const float4 *)&A[blk_i * 196608 +
                        c_A_round_2 * 98304 + k_2 * 16 + 16 + tid / 4 * 3072 + tid % 4 * 4];
        }
        const int slot_k_2 = k_2 % 2;
        // 3: (de-)comp( 32, 64, ^ ) ( ^, ^ ; ^ ) ( WRP.y, WRP.x, ^ )
        // 4: (de-)comp( 16, ^, ^ ) ( ^, ^ ; ^ ) ( THR.z, ^, ^ )
        // 5: (de-)comp( 8, 8, ^ ) ( ^, ^ ; ^ ) ( THR.x@cyclic(4), THR.y@cyclic(4), ^ )
        #pragma unroll 4
        for (int k_6 = 0; k_6 < 4; ++k_6) {
            // 6: (de-)comp( ^, ^, 4 ) ( ^, B:RM[1,2] ; ^ ) ( ^, ^, FOR.1 ) @unroll(4)
            __align__(16) float B_RM[32];
            #pragma unroll
            for (int c_B0 = 0; c_B0 < 4; ++c_B0) {
                #pragma unroll
                for (int c_B1 = 0; c_B1 < 8; c_B1 += 4)
                    *(float4 *)&B_RM[c_B0 * 8 + c_B1] = *(const float4 *)&B_SM[slot_k_2 * 2048 + k_6 * 512 +
                            c_B0 * 128 + wrp_j * 64 + thr_j * 4 + c_B1 / 4 * 32 + c_B1 % 4];
            }
            #pragma unroll
            for (int k_7 = 0; k_7 < 4; ++k_7) {
                #pragma unroll
                for (int i_7h = 0; i_7h < 2; ++i_7h) {
                    #pragma unroll
                    for (int i_7l = 0; i_7l < 4; ++i_7l) {
                        #pragma unroll
                        for (int j_7h = 0; j_7h < 2; ++j_7h) {
                            #pragma unroll
                            for (int j_7l = 0; j_7l < 4; ++j_7l)
                                C_RM[i_7h * 32 + i_7l * 8 + j_7h * 4 + j_7l] += A_SM[slot_k_2 * 1084 +
                                        k_6 * 272 + k_7 * 68 + wrp_i * 32 + thr_i * 16 + i_7h * 8 +
                                        thr_i_2 * 4 + i_7l] * B_RM[k_7 * 8 + j_7h * 4 + j_7l];
                        }
                    }
                }
            }
        }
        if (k_2 + 1 < 192) {
            const int fill_4 = (k_2 + 1) % 2;
            #pragma unroll
            for (int c_A_round_2 = 0; c_A_round_2 < 2; ++c_A_round_2) {
                A_SM[fill_4 * 1084 + c_A_round_2 * 32 + tid / 4 + tid % 4 * 272] = A_next[c_A_round_2 * 4];
                A_SM[fill_4 * 1084 + c_A_round_2 * 32 + 68 + tid / 4 + tid % 4 * 272] =
                        A_next[c_A_round_2 * 4 + 1];
                A_SM[fill_4 * 1084 + c_A_round_2 * 32 + 136 + tid / 4 + tid % 4 * 272] =
                        A_next[c_A_round_2 * 4 + 2];
                A_SM[fill_4 * 1084 + c_A_round_2 * 32 + 204 + tid / 4 + tid % 4 * 272] =
                        A_next[c_A_round_2 * 4 + 3];
            }
        }
    }
    __syncthreads();  // all slots are free again
    #pragma unroll
    for (int i_7h = 0; i_7h < 2; ++i_7h) {
        #pragma unroll
        for (int i_7l = 0; i_7l < 4; ++i_7l) {
            #pragma unroll
            for (int j_7h = 0; j_7h < 2; ++j_7h) {
                #pragma unroll
                for (int j_7l = 0; j_7l < 4; j_7l += 4) {
                    __align__(16) float C_row[4];
                    *(float4 *)&C_row[0] = *(const float4 *)&C[blk_i * 196608 + wrp_i * 98304 +
                            thr_i * 49152 + i_7h * 24576 + thr_i_2 * 12288 + i_7l * 3072 + blk_j * 128 +
                            wrp_j * 64 + j_7h * 32 + thr_j * 4 + j_7l];
                    #pragma unroll
                    for (int lane_2 = 0; lane_2 < 4; ++lane_2)
                        C_row[lane_2] = C_row[lane_2] * beta + alpha * C_RM[i_7h * 32 + i_7l * 8 + j_7h * 4 +
                                j_7l + lane_2];
                    *(float4 *)&C[blk_i * 196608 + wrp_i * 98304 + thr_i * 49152 + i_7h * 24576 +
                            thr_i_2 * 12288 + i_7l * 3072 + blk_j * 128 + wrp_j * 64 + j_7h * 32 +
                            thr_j * 4 + j_7l] = *(const float4 *)&C_row[0];
                }
            }
        }
    }
}
