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

extern "C" __global__ void __launch_bounds__(64)
matmul_init_kernel(const float *A, const float *B, float *C)
{
    __shared__ __align__(16) float A_SM[2168];
    __shared__ __align__(16) float B_SM[4096];
    asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernels in front have ended
    const int tid = threadIdx.x;
    const int thr_i = tid / 4 % 8;
    const int wrp_j = tid / 32;
    const int thr_j = tid % 4;
    const int group = (int)blockIdx.x / 128;
    const int in_group = (int)blockIdx.x % 128;
    const int blk_i = in_group / 2;
    const int blk_j = group * 2 + in_group % 2;
    // 1: (de-)comp( 64, 128, ^ ) ( ^, ^ ; ^ ) ( BLK.x, BLK.y, ^ ) @order(grouped(2))
    __align__(16) float C_RM[128] = {};
    // 2: (de-)comp( ^, ^, 16 )
    //             ( A:SM[2,1]@pad(4), B:SM[1,2]@copy(async) ; C:RM[1,2] )
    //             ( ^, ^, FOR.1 ) @stages(2)
    {
        #pragma unroll
        for (int c_B_round = 0; c_B_round < 8; ++c_B_round)
            cp_async_16(&B_SM[c_B_round * 256 + tid / 32 * 128 + tid % 32 * 4], &B[c_B_round * 8192 +
                    blk_j * 128 + tid / 32 * 4096 + tid % 32 * 4]);
    }
    cp_async_commit();
    {
        #pragma unroll
        for (int c_A_round = 0; c_A_round < 4; ++c_A_round) {
            __align__(16) float A_row[4];
            *(float4 *)&A_row[0] = *(const float4 *)&A[blk_i * 262144 + c_A_round * 65536 + tid / 4 * 4096 +
                    tid % 4 * 4];
            #pragma unroll
            for (int lane = 0; lane < 4; ++lane)
                A_SM[lane * 68 + c_A_round * 16 + tid / 4 + tid % 4 * 272] = A_row[lane];
        }
    }
    for (int k_2 = 0; k_2 < 256; ++k_2) {
        cp_async_wait<0>();
        __syncthreads();  // the slot is filled, and the one before it is free
        if (k_2 + 1 < 256) {
            const int fill_3 = (k_2 + 1) % 2;
            #pragma unroll
            for (int c_B_round_2 = 0; c_B_round_2 < 8; ++c_B_round_2)
                cp_async_16(&B_SM[fill_3 * 2048 + c_B_round_2 * 256 + tid / 32 * 128 + tid % 32 * 4],
                        &B[k_2 * 65536 + c_B_round_2 * 8192 + blk_j * 128 + 65536 + tid / 32 * 4096 +
                        tid % 32 * 4]);
        }
        cp_async_commit();
        __align__(16) float A_next[16];
        if (k_2 + 1 < 256) {
            #pragma unroll
            for (int c_A_round_2 = 0; c_A_round_2 < 4; ++c_A_round_2)
                *(float4 *)&A_next[c_A_round_2 * 4] = *(const float4 *)&A[blk_i * 262144 +
                        c_A_round_2 * 65536 + k_2 * 16 + 16 + tid / 4 * 4096 + tid % 4 * 4];
        }
        const int slot_k_2 = k_2 % 2;
        // 3: (de-)comp( ^, 64, ^ ) ( ^, ^ ; ^ ) ( ^, WRP.x, ^ )
        // 4: (de-)comp( 8, 16, ^ ) ( ^, ^ ; ^ ) ( THR.y@cyclic(4), THR.x@cyclic(4), ^ )
        // 5: (de-)comp( ^, ^, 2 ) ( A:RM[1,2], ^ ; ^ ) ( ^, ^, FOR.1 ) @unroll @stages(4)
        float A_RM[64];
        #pragma unroll
        for (int c_A0 = 0; c_A0 < 8; ++c_A0) {
            #pragma unroll
            for (int c_A1 = 0; c_A1 < 2; ++c_A1)
                A_RM[c_A0 * 2 + c_A1] = A_SM[slot_k_2 * 1084 + c_A1 * 68 + thr_i * 4 + c_A0 / 4 * 32 +
                        c_A0 % 4];
        }
        #pragma unroll
        for (int c_A0_2 = 0; c_A0_2 < 8; ++c_A0_2) {
            #pragma unroll
            for (int c_A1_2 = 0; c_A1_2 < 2; ++c_A1_2)
                A_RM[c_A0_2 * 2 + c_A1_2 + 16] = A_SM[slot_k_2 * 1084 + c_A1_2 * 68 + thr_i * 4 + 136 +
                        c_A0_2 / 4 * 32 + c_A0_2 % 4];
        }
        #pragma unroll
        for (int c_A0_3 = 0; c_A0_3 < 8; ++c_A0_3) {
            #pragma unroll
            for (int c_A1_3 = 0; c_A1_3 < 2; ++c_A1_3)
                A_RM[c_A0_3 * 2 + c_A1_3 + 32] = A_SM[slot_k_2 * 1084 + c_A1_3 * 68 + thr_i * 4 + 272 +
                        c_A0_3 / 4 * 32 + c_A0_3 % 4];
        }
        #pragma unroll
        for (int k_5 = 0; k_5 < 8; ++k_5) {
            const int slot_k_5 = k_5 % 4;
            if (k_5 + 3 <= 7) {
                const int next_k_5 = k_5 + 3;
                const int fill_5 = (slot_k_5 + 3) % 4;
                #pragma unroll
                for (int c_A0_4 = 0; c_A0_4 < 8; ++c_A0_4) {
                    #pragma unroll
                    for (int c_A1_4 = 0; c_A1_4 < 2; ++c_A1_4)
                        A_RM[fill_5 * 16 + c_A0_4 * 2 + c_A1_4] = A_SM[slot_k_2 * 1084 + next_k_5 * 136 +
                                c_A1_4 * 68 + thr_i * 4 + c_A0_4 / 4 * 32 + c_A0_4 % 4];
                }
            }
            #pragma unroll
            for (int k_6 = 0; k_6 < 2; ++k_6) {
                #pragma unroll
                for (int i_6h = 0; i_6h < 2; ++i_6h) {
                    #pragma unroll
                    for (int i_6l = 0; i_6l < 4; ++i_6l) {
                        #pragma unroll
                        for (int j_6h = 0; j_6h < 4; ++j_6h) {
                            #pragma unroll
                            for (int j_6l = 0; j_6l < 4; j_6l += 4) {
                                __align__(16) float B_SM_row[4];
                                *(float4 *)&B_SM_row[0] = *(const float4 *)&B_SM[slot_k_2 * 2048 +
                                        k_5 * 256 + k_6 * 128 + wrp_j * 64 + j_6h * 16 + thr_j * 4 + j_6l];
                                #pragma unroll
                                for (int lane_2 = 0; lane_2 < 4; ++lane_2)
                                    C_RM[i_6h * 64 + i_6l * 16 + j_6h * 4 + j_6l + lane_2] +=
                                            A_RM[slot_k_5 * 16 + i_6h * 8 + i_6l * 2 +
                                            k_6] * B_SM_row[lane_2];
                            }
                        }
                    }
                }
            }
        }
        if (k_2 + 1 < 256) {
            const int fill_4 = (k_2 + 1) % 2;
            #pragma unroll
            for (int c_A_round_2 = 0; c_A_round_2 < 4; ++c_A_round_2) {
                A_SM[fill_4 * 1084 + c_A_round_2 * 16 + tid / 4 + tid % 4 * 272] = A_next[c_A_round_2 * 4];
                A_SM[fill_4 * 1084 + c_A_round_2 * 16 + 68 + tid / 4 + tid % 4 * 272] =
                        A_next[c_A_round_2 * 4 + 1];
                A_SM[fill_4 * 1084 + c_A_round_2 * 16 + 136 + tid / 4 + tid % 4 * 272] =
                        A_next[c_A_round_2 * 4 + 2];
                A_SM[fill_4 * 1084 + c_A_round_2 * 16 + 204 + tid / 4 + tid % 4 * 272] =
                        A_next[c_A_round_2 * 4 + 3];
            }
        }
    }
    __syncthreads();  // all slots are free again
    #pragma unroll
    for (int i_6h = 0; i_6h < 2; ++i_6h) {
        #pragma unroll
        for (int i_6l = 0; i_6l < 4; ++i_6l) {
            #pragma unroll
            for (int j_6h = 0; j_6h < 4; ++j_6h)
                *(float4 *)&C[blk_i * 262144 + i_6h * 131072 + thr_i * 16384 + i_6l * 4096 + blk_j * 128 +
                        wrp_j * 64 + j_6h * 16 + thr_j * 4] = *(const float4 *)&C_RM[i_6h * 64 + i_6l * 16 +
                        j_6h * 4];
        }
    }
}
