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

extern "C" __global__ void __launch_bounds__(26)
batched_matmul_t_kernel(const float *A, const float *B, float *C)
{
    __shared__ __align__(16) float A_SM[1872];
    __shared__ __align__(16) float B_SM[2172];
    asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernels in front have ended
    const int tid = (int)threadIdx.y * 2 + (int)threadIdx.x;
    const int thr_i = threadIdx.x;
    const int thr_j = threadIdx.y;
    const int blk_b = blockIdx.x;
    // 1: (de-)comp( 1, ^, ^, ^ ) ( ^, ^ ; ^ ) ( BLK.x, ^, ^, ^ )
    __align__(8) float C_RM[26] = {};
    // 2: (de-)comp( ^, ^, ^, 24 )
    //             ( A:SM[1,2,3]@copy(async), B:SM[1,2,3]@copy(async)@pad(4) ; C:RM[1,2,3] )
    //             ( ^, ^, ^, FOR.1 ) @unroll(2) @stages(3)
    {
        #pragma unroll
        for (int c_A_round = 0; c_A_round < 6; ++c_A_round) {
            const int c_A = c_A_round * 26 + tid;
            cp_async_16(&A_SM[c_A / 6 * 24 + c_A % 6 * 4], &A[blk_b * 1872 + c_A / 6 * 72 + c_A % 6 * 4]);
        }
        #pragma unroll
        for (int c_B_round = 0; c_B_round < 6; ++c_B_round) {
            const int c_B = c_B_round * 26 + tid;
            cp_async_16(&B_SM[c_B / 6 * 28 + c_B % 6 * 4], &B[blk_b * 1872 + c_B / 6 * 72 + c_B % 6 * 4]);
        }
    }
    cp_async_commit();
    {
        #pragma unroll
        for (int c_A_round_2 = 0; c_A_round_2 < 6; ++c_A_round_2) {
            const int c_A_2 = c_A_round_2 * 26 + tid;
            cp_async_16(&A_SM[624 + c_A_2 / 6 * 24 + c_A_2 % 6 * 4], &A[blk_b * 1872 + 24 + c_A_2 / 6 * 72 +
                    c_A_2 % 6 * 4]);
        }
        #pragma unroll
        for (int c_B_round_2 = 0; c_B_round_2 < 6; ++c_B_round_2) {
            const int c_B_2 = c_B_round_2 * 26 + tid;
            cp_async_16(&B_SM[724 + c_B_2 / 6 * 28 + c_B_2 % 6 * 4], &B[blk_b * 1872 + 24 + c_B_2 / 6 * 72 +
                    c_B_2 % 6 * 4]);
        }
    }
    cp_async_commit();
    #pragma unroll 2
    for (int k_2 = 0; k_2 < 3; ++k_2) {
        cp_async_wait<1>();
        __syncthreads();  // the slot is filled, and the one before it is free
        if (k_2 + 2 < 3) {
            const int fill_3 = (k_2 + 2) % 3;
            #pragma unroll
            for (int c_A_round_3 = 0; c_A_round_3 < 6; ++c_A_round_3) {
                const int c_A_3 = c_A_round_3 * 26 + tid;
                cp_async_16(&A_SM[fill_3 * 624 + c_A_3 / 6 * 24 + c_A_3 % 6 * 4], &A[blk_b * 1872 +
                        k_2 * 24 + 48 + c_A_3 / 6 * 72 + c_A_3 % 6 * 4]);
            }
            #pragma unroll
            for (int c_B_round_3 = 0; c_B_round_3 < 6; ++c_B_round_3) {
                const int c_B_3 = c_B_round_3 * 26 + tid;
                cp_async_16(&B_SM[fill_3 * 724 + c_B_3 / 6 * 28 + c_B_3 % 6 * 4], &B[blk_b * 1872 +
                        k_2 * 24 + 48 + c_B_3 / 6 * 72 + c_B_3 % 6 * 4]);
            }
        }
        cp_async_commit();
        const int slot_k_2 = k_2 % 3;
        // 3: (de-)comp( ^, ^, 2, ^ ) ( ^, ^ ; ^ ) ( ^, ^, THR.y, ^ )
        // 4: (de-)comp( ^, 13, ^, ^ ) ( ^, ^ ; ^ ) ( ^, THR.x, ^, ^ )
        #pragma unroll
        for (int k_5 = 0; k_5 < 2; ++k_5) {
            // 5: (de-)comp( ^, ^, ^, 12 ) ( A:RM[1,2,3], ^ ; ^ ) ( ^, ^, ^, FOR.1 ) @unroll
            __align__(16) float A_RM[156];
            #pragma unroll
            for (int c_A1 = 0; c_A1 < 13; ++c_A1) {
                #pragma unroll
                for (int c_A2 = 0; c_A2 < 12; c_A2 += 4)
                    *(float4 *)&A_RM[c_A1 * 12 + c_A2] = *(const float4 *)&A_SM[slot_k_2 * 624 +
                            thr_i * 312 + c_A1 * 24 + k_5 * 12 + c_A2];
            }
            #pragma unroll
            for (int k_6 = 0; k_6 < 12; ++k_6) {
                #pragma unroll
                for (int i_6 = 0; i_6 < 13; ++i_6) {
                    #pragma unroll
                    for (int j_6 = 0; j_6 < 2; ++j_6)
                        C_RM[i_6 * 2 + j_6] += A_RM[i_6 * 12 + k_6] * B_SM[slot_k_2 * 724 + thr_j * 56 +
                                j_6 * 28 + k_5 * 12 + k_6];
                }
            }
        }
    }
    __syncthreads();  // all slots are free again
    #pragma unroll
    for (int i_6 = 0; i_6 < 13; ++i_6)
        *(float2 *)&C[blk_b * 676 + thr_i * 338 + i_6 * 26 + thr_j * 2] = *(const float2 *)&C_RM[i_6 * 2];
}
