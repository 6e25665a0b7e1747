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

extern "C" __global__ void __launch_bounds__(128, 4)
matmul_bias_relu_kernel(const float *A, const float *B, float *matmul_bias_relu_part)
{
    __shared__ __align__(16) float A_SM[2168];
    __shared__ __align__(16) float B_SM[4096];
    asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernels in front have ended
    const int tid = (int)threadIdx.y * 16 + (int)threadIdx.x;
    const int thr_i = threadIdx.y;
    const int thr_j = threadIdx.x;
    const int blk_i = blockIdx.z;
    const int blk_j = blockIdx.y;
    const int blk_k = blockIdx.x;
    // 1: (de-)comp( 64, 128, 256 ) ( ^, ^, ^ ; ^ ) ( BLK.z, BLK.y, BLK.x ) @occupancy(4)
    __align__(16) float C_RM[64] = {};
    // 2: (de-)comp( ^, ^, 16 )
    //             ( A:SM[2,1]@pad(4), B:SM[1,2]@copy(async), ^ ; C:RM[1,2] )
    //             ( ^, ^, ^ ) @stages(2)
    {
        #pragma unroll
        for (int c_B_round = 0; c_B_round < 4; ++c_B_round)
            cp_async_16(&B_SM[c_B_round * 512 + tid / 32 * 128 + tid % 32 * 4], &B[blk_k * 262144 +
                    c_B_round * 4096 + blk_j * 128 + tid / 32 * 1024 + tid % 32 * 4]);
    }
    cp_async_commit();
    {
        #pragma unroll
        for (int c_A_round = 0; c_A_round < 2; ++c_A_round) {
            __align__(16) float A_row[4];
            *(float4 *)&A_row[0] = *(const float4 *)&A[blk_i * 65536 + c_A_round * 32768 + blk_k * 256 +
                    tid / 4 * 1024 + tid % 4 * 4];
            #pragma unroll
            for (int lane = 0; lane < 4; ++lane)
                A_SM[lane * 68 + c_A_round * 32 + tid / 4 + tid % 4 * 272] = A_row[lane];
        }
    }
    for (int k_2 = 0; k_2 < 16; ++k_2) {
        cp_async_wait<0>();
        __syncthreads();  // the slot is filled, and the one before it is free
        if (k_2 + 1 < 16) {
            const int fill_3 = (k_2 + 1) % 2;
            #pragma unroll
            for (int c_B_round_2 = 0; c_B_round_2 < 4; ++c_B_round_2)
                cp_async_16(&B_SM[fill_3 * 2048 + c_B_round_2 * 512 + tid / 32 * 128 + tid % 32 * 4],
                        &B[blk_k * 262144 + k_2 * 16384 + c_B_round_2 * 4096 + blk_j * 128 + 16384 +
                        tid / 32 * 1024 + tid % 32 * 4]);
        }
        cp_async_commit();
        __align__(16) float A_next[8];
        if (k_2 + 1 < 16) {
            #pragma unroll
            for (int c_A_round_2 = 0; c_A_round_2 < 2; ++c_A_round_2)
                *(float4 *)&A_next[c_A_round_2 * 4] = *(const float4 *)&A[blk_i * 65536 +
                        c_A_round_2 * 32768 + blk_k * 256 + k_2 * 16 + 16 + tid / 4 * 1024 + tid % 4 * 4];
        }
        const int slot_k_2 = k_2 % 2;
        // 3: (de-)comp( 8, 8, ^ ) ( ^, ^, ^ ; ^ ) ( THR.y@cyclic(4), THR.x@cyclic(4), ^ )
        #pragma unroll
        for (int k_4 = 0; k_4 < 16; ++k_4) {
            // 4: (de-)comp( ^, ^, 1 ) ( A:RM[1,2], B:RM[1,2], ^ ; ^ ) ( ^, ^, ^ ) @unroll
            __align__(16) float A_RM[8];
            #pragma unroll
            for (int c_A0 = 0; c_A0 < 8; c_A0 += 4)
                *(float4 *)&A_RM[c_A0] = *(const float4 *)&A_SM[slot_k_2 * 1084 + k_4 * 68 + thr_i * 4 +
                        c_A0 / 4 * 32 + c_A0 % 4];
            __align__(16) float B_RM[8];
            #pragma unroll
            for (int c_B1 = 0; c_B1 < 8; c_B1 += 4)
                *(float4 *)&B_RM[c_B1] = *(const float4 *)&B_SM[slot_k_2 * 2048 + k_4 * 128 + thr_j * 4 +
                        c_B1 / 4 * 64 + c_B1 % 4];
            #pragma unroll
            for (int i_5h = 0; i_5h < 2; ++i_5h) {
                #pragma unroll
                for (int i_5l = 0; i_5l < 4; ++i_5l) {
                    #pragma unroll
                    for (int j_5h = 0; j_5h < 2; ++j_5h) {
                        #pragma unroll
                        for (int j_5l = 0; j_5l < 4; ++j_5l)
                            C_RM[i_5h * 32 + i_5l * 8 + j_5h * 4 + j_5l] += A_RM[i_5h * 4 +
                                    i_5l] * B_RM[j_5h * 4 + j_5l];
                    }
                }
            }
        }
        if (k_2 + 1 < 16) {
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
    for (int i_5h = 0; i_5h < 2; ++i_5h) {
        #pragma unroll
        for (int i_5l = 0; i_5l < 4; ++i_5l) {
            #pragma unroll
            for (int j_5h = 0; j_5h < 2; ++j_5h)
                *(float4 *)&matmul_bias_relu_part[blk_k * 1048576 + blk_i * 65536 + i_5h * 32768 +
                        thr_i * 4096 + i_5l * 1024 + blk_j * 128 + j_5h * 64 + thr_j * 4] =
                        *(const float4 *)&C_RM[i_5h * 32 + i_5l * 8 + j_5h * 4];
        }
    }
}

extern "C" __global__ void __launch_bounds__(256)
matmul_bias_relu_combine(const float *bias, float *C, const float *matmul_bias_relu_part)
{
    asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernels in front have ended
    const int thr_j = threadIdx.x;
    const int blk_i = blockIdx.y;
    const int blk_j = blockIdx.x;
    float C_RM = 0.0f;
    for (int part_3 = 0; part_3 < 4; ++part_3)
        C_RM += matmul_bias_relu_part[part_3 * 1048576 + blk_i * 1024 + blk_j * 256 + thr_j];
    C[blk_i * 1024 + blk_j * 256 + thr_j] = C_RM + bias[blk_j * 256 + thr_j] > 0.0f ? C_RM +
            bias[blk_j * 256 + thr_j] : 0.0f;
}
