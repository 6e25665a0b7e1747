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
matmul_bias_relu_kernel(const float *A, const float *B, float *matmul_bias_relu_part)
{
    __shared__ __align__(16) float A_SM[2296];
    __shared__ __align__(16) float B_SM[4096];
    asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernels in front have ended
    const int tid = threadIdx.x;
    const int wrp_i = tid / 32;
    const int thr_i = tid / 16 % 2;
    const int thr_j = tid % 16;
    const int blk_i = blockIdx.y;
    const int blk_j = blockIdx.x;
    const int blk_k = blockIdx.z;
    // 1: (de-)comp( 32, 64, 256 ) ( ^, ^, ^ ; ^@combine(kernel) ) ( BLK.y, BLK.x, BLK.z )
    __align__(16) float C_RM[32] = {};
    // 2: (de-)comp( ^, ^, 32 )
    //             ( A:SM[2,1]@pad(4), B:SM[1,2]@copy(async), ^ ; C:RM[1,2] )
    //             ( ^, ^, FOR.1 ) @stages(2)
    {
        #pragma unroll
        for (int c_B_round = 0; c_B_round < 8; ++c_B_round)
            cp_async_16(&B_SM[c_B_round * 256 + tid / 16 * 64 + tid % 16 * 4], &B[blk_k * 262144 +
                    c_B_round * 4096 + blk_j * 64 + tid / 16 * 1024 + tid % 16 * 4]);
    }
    cp_async_commit();
    {
        #pragma unroll
        for (int c_A_round = 0; c_A_round < 4; ++c_A_round) {
            __align__(16) float A_row[4];
            *(float4 *)&A_row[0] = *(const float4 *)&A[blk_i * 32768 + c_A_round * 8192 + blk_k * 256 +
                    tid / 8 * 1024 + tid % 8 * 4];
            #pragma unroll
            for (int lane = 0; lane < 4; ++lane)
                A_SM[lane * 36 + c_A_round * 8 + tid / 8 + tid % 8 * 144] = A_row[lane];
        }
    }
    for (int k_2 = 0; k_2 < 8; ++k_2) {
        cp_async_wait<0>();
        __syncthreads();  // the slot is filled, and the one before it is free
        if (k_2 + 1 < 8) {
            const int fill_3 = (k_2 + 1) % 2;
            #pragma unroll
            for (int c_B_round_2 = 0; c_B_round_2 < 8; ++c_B_round_2)
                cp_async_16(&B_SM[fill_3 * 2048 + c_B_round_2 * 256 + tid / 16 * 64 + tid % 16 * 4],
                        &B[blk_k * 262144 + k_2 * 32768 + c_B_round_2 * 4096 + blk_j * 64 + 32768 +
                        tid / 16 * 1024 + tid % 16 * 4]);
        }
        cp_async_commit();
        __align__(16) float A_next[16];
        if (k_2 + 1 < 8) {
            #pragma unroll
            for (int c_A_round_2 = 0; c_A_round_2 < 4; ++c_A_round_2)
                *(float4 *)&A_next[c_A_round_2 * 4] = *(const float4 *)&A[blk_i * 32768 +
                        c_A_round_2 * 8192 + blk_k * 256 + k_2 * 32 + 32 + tid / 8 * 1024 + tid % 8 * 4];
        }
        const int slot_k_2 = k_2 % 2;
        // 3: (de-)comp( 16, 64, ^ ) ( ^, ^, ^ ; ^ ) ( WRP.y, WRP.x, ^ )
        // 4: (de-)comp( 8, 4, ^ ) ( ^, ^, ^ ; ^ ) ( THR.y@cyclic(4), THR.x, ^ )
        #pragma unroll
        for (int k_5 = 0; k_5 < 32; ++k_5) {
            // 5: (de-)comp( ^, ^, 1 ) ( A:RM[1,2], B:RM[1,2], ^ ; ^ ) ( ^, ^, FOR.1 ) @unroll
            __align__(16) float A_RM[8];
            #pragma unroll
            for (int c_A0 = 0; c_A0 < 8; c_A0 += 4)
                *(float4 *)&A_RM[c_A0] = *(const float4 *)&A_SM[slot_k_2 * 1148 + k_5 * 36 + wrp_i * 16 +
                        thr_i * 4 + c_A0 / 4 * 8 + c_A0 % 4];
            __align__(16) float B_RM[4];
            *(float4 *)&B_RM[0] = *(const float4 *)&B_SM[slot_k_2 * 2048 + k_5 * 64 + thr_j * 4];
            #pragma unroll
            for (int i_6h = 0; i_6h < 2; ++i_6h) {
                #pragma unroll
                for (int i_6l = 0; i_6l < 4; ++i_6l) {
                    #pragma unroll
                    for (int j_6 = 0; j_6 < 4; ++j_6)
                        C_RM[i_6h * 16 + i_6l * 4 + j_6] += A_RM[i_6h * 4 + i_6l] * B_RM[j_6];
                }
            }
        }
        if (k_2 + 1 < 8) {
            const int fill_4 = (k_2 + 1) % 2;
            #pragma unroll
            for (int c_A_round_2 = 0; c_A_round_2 < 4; ++c_A_round_2) {
                A_SM[fill_4 * 1148 + c_A_round_2 * 8 + tid / 8 + tid % 8 * 144] = A_next[c_A_round_2 * 4];
                A_SM[fill_4 * 1148 + c_A_round_2 * 8 + 36 + tid / 8 + tid % 8 * 144] =
                        A_next[c_A_round_2 * 4 + 1];
                A_SM[fill_4 * 1148 + c_A_round_2 * 8 + 72 + tid / 8 + tid % 8 * 144] =
                        A_next[c_A_round_2 * 4 + 2];
                A_SM[fill_4 * 1148 + c_A_round_2 * 8 + 108 + tid / 8 + tid % 8 * 144] =
                        A_next[c_A_round_2 * 4 + 3];
            }
        }
    }
    __syncthreads();  // all slots are free again
    #pragma unroll
    for (int i_6h = 0; i_6h < 2; ++i_6h) {
        #pragma unroll
        for (int i_6l = 0; i_6l < 4; ++i_6l)
            *(float4 *)&matmul_bias_relu_part[blk_k * 131072 + blk_i * 32768 + wrp_i * 16384 + i_6h * 8192 +
                    thr_i * 4096 + i_6l * 1024 + blk_j * 64 + thr_j * 4] = *(const float4 *)&C_RM[i_6h * 16 +
                    i_6l * 4];
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
        C_RM += matmul_bias_relu_part[part_3 * 131072 + blk_i * 1024 + blk_j * 256 + thr_j];
    C[blk_i * 1024 + blk_j * 256 + thr_j] = C_RM + bias[blk_j * 256 + thr_j] > 0.0f ? C_RM +
            bias[blk_j * 256 + thr_j] : 0.0f;
}
