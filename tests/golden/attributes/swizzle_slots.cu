__device__ __forceinline__ void cp_async_16(void *dst, const void *src)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                 :: "r"((unsigned)__cvta_generic_to_shared(dst)), "l"(__cvta_generic_to_global(src))
                 : "memory");
}

__device__ __forceinline__ int swizzle_128_4_64(int i)
{
    return i ^ (i / 64 % 8 * 4);
}

__device__ __forceinline__ void cp_async_commit()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

__device__ __forceinline__ int swizzle_32_4_32(int i)
{
    return i ^ (i / 32 % 2 * 4);
}

template <int pending>
__device__ __forceinline__ void cp_async_wait()
{
    asm volatile("cp.async.wait_group %0;" :: "n"(pending) : "memory");
}

extern "C" __global__ void __launch_bounds__(128)
matmul_kernel(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C)
{
    __shared__ __align__(128) float A_SM[1536];
    __shared__ __align__(128) float B_SM[3072];
    const int tid = (int)threadIdx.y * 16 + (int)threadIdx.x;
    const int thr_i = threadIdx.y;
    const int thr_j = threadIdx.x;
    const int blk_i = blockIdx.y;
    // 1: (de-)comp( 32, 64, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ )
    // 2: (de-)comp( ^, ^, 24 )
    //             ( A:SM[2,1]@swizzle(32), B:SM[1,2]@copy(async)@swizzle(128) ; ^ )
    //             ( ^, ^, FOR.1 ) @stages(2)
    {
        #pragma unroll
        for (int c_B_round = 0; c_B_round < 3; ++c_B_round)
            cp_async_16(&B_SM[swizzle_128_4_64(c_B_round * 512 + tid / 16 * 64 + tid % 16 * 4)],
                    &B[c_B_round * 512 + tid / 16 * 64 + tid % 16 * 4]);
    }
    cp_async_commit();
    {
        #pragma unroll
        for (int c_A_round = 0; c_A_round < 2; ++c_A_round) {
            if (c_A_round * 128 + tid < 192) {
                const int c_A = c_A_round * 128 + tid;
                __align__(16) float A_row[4];
                *(float4 *)&A_row[0] = *(const float4 *)&A[blk_i * 1536 + c_A / 6 * 48 + c_A % 6 * 4];
                #pragma unroll
                for (int lane = 0; lane < 4; ++lane)
                    A_SM[swizzle_32_4_32(lane * 32 + c_A / 6 + c_A % 6 * 128)] = A_row[lane];
            }
        }
    }
    for (int k_2 = 0; k_2 < 2; ++k_2) {
        cp_async_wait<0>();
        __syncthreads();  // the slot is filled, and the one before it is free
        if (k_2 + 1 < 2) {
            const int fill_3 = (k_2 + 1) % 2;
            #pragma unroll
            for (int c_B_round_2 = 0; c_B_round_2 < 3; ++c_B_round_2)
                cp_async_16(&B_SM[swizzle_128_4_64(fill_3 * 1536 + c_B_round_2 * 512 + tid / 16 * 64 +
                        tid % 16 * 4)], &B[k_2 * 1536 + c_B_round_2 * 512 + 1536 + tid / 16 * 64 +
                        tid % 16 * 4]);
        }
        cp_async_commit();
        __align__(16) float A_next[8];
        if (k_2 + 1 < 2) {
            #pragma unroll
            for (int c_A_round_2 = 0; c_A_round_2 < 2; ++c_A_round_2) {
                if (c_A_round_2 * 128 + tid < 192) {
                    const int c_A_2 = c_A_round_2 * 128 + tid;
                    *(float4 *)&A_next[c_A_round_2 * 4] = *(const float4 *)&A[blk_i * 1536 + k_2 * 24 + 24 +
                            c_A_2 / 6 * 48 + c_A_2 % 6 * 4];
                }
            }
        }
        const int slot_k_2 = k_2 % 2;
        // 3: (de-)comp( 4, 4, ^ ) ( ^, ^ ; ^ ) ( THR.y, THR.x, ^ )
        for (int k_4 = 0; k_4 < 24; ++k_4) {
            for (int i_4 = 0; i_4 < 4; ++i_4) {
                for (int j_4 = 0; j_4 < 4; ++j_4) {
                    float C_RM = 0.0f;
                    C_RM += A_SM[swizzle_32_4_32(slot_k_2 * 768 + k_4 * 32 + thr_i * 4 +
                            i_4)] * B_SM[swizzle_128_4_64(slot_k_2 * 1536 + k_4 * 64 + thr_j * 4 + j_4)];
                    C[blk_i * 2048 + thr_i * 256 + i_4 * 64 + thr_j * 4 + j_4] += C_RM;
                }
            }
        }
        if (k_2 + 1 < 2) {
            const int fill_4 = (k_2 + 1) % 2;
            #pragma unroll
            for (int c_A_round_2 = 0; c_A_round_2 < 2; ++c_A_round_2) {
                if (c_A_round_2 * 128 + tid < 192) {
                    const int c_A_2 = c_A_round_2 * 128 + tid;
                    A_SM[swizzle_32_4_32(fill_4 * 768 + c_A_2 / 6 + c_A_2 % 6 * 128)] =
                            A_next[c_A_round_2 * 4];
                    A_SM[swizzle_32_4_32(fill_4 * 768 + 32 + c_A_2 / 6 + c_A_2 % 6 * 128)] =
                            A_next[c_A_round_2 * 4 + 1];
                    A_SM[swizzle_32_4_32(fill_4 * 768 + 64 + c_A_2 / 6 + c_A_2 % 6 * 128)] =
                            A_next[c_A_round_2 * 4 + 2];
                    A_SM[swizzle_32_4_32(fill_4 * 768 + 96 + c_A_2 / 6 + c_A_2 % 6 * 128)] =
                            A_next[c_A_round_2 * 4 + 3];
                }
            }
        }
    }
    __syncthreads();  // all slots are free again
}
