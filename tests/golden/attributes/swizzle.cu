__device__ __forceinline__ int swizzle_64_4_32(int i)
{
    return i ^ (i / 32 % 4 * 4);
}

__device__ __forceinline__ int swizzle_128_4_32(int i)
{
    return i ^ (i / 32 % 8 * 4);
}

extern "C" __global__ void __launch_bounds__(64)
matmul_kernel(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C)
{
    __shared__ __align__(128) float A_SM[512];
    __shared__ __align__(128) float B_SM[512];
    const int tid = (int)threadIdx.y * 8 + (int)threadIdx.x;
    const int thr_i = threadIdx.y;
    const int thr_j = threadIdx.x;
    const int blk_i = blockIdx.y;
    const int blk_j = blockIdx.x;
    // 1: (de-)comp( 32, 32, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ )
    for (int k_2 = 0; k_2 < 3; ++k_2) {
        // 2: (de-)comp( ^, ^, 16 ) ( A:SM[1,2]@swizzle(64), B:SM[1,2]@swizzle(128) ; ^ ) ( ^, ^, FOR.1 )
        __syncthreads();  // A_SM has been read
        #pragma unroll
        for (int c_A_round = 0; c_A_round < 2; ++c_A_round)
            *(float4 *)&A_SM[swizzle_64_4_32(c_A_round * 256 + tid / 4 * 16 + tid % 4 * 4)] =
                    *(const float4 *)&A[blk_i * 1536 + c_A_round * 768 + k_2 * 16 + tid / 4 * 48 +
                    tid % 4 * 4];
        #pragma unroll
        for (int c_B_round = 0; c_B_round < 2; ++c_B_round)
            *(float4 *)&B_SM[swizzle_128_4_32(c_B_round * 256 + tid / 8 * 32 + tid % 8 * 4)] =
                    *(const float4 *)&B[k_2 * 1024 + c_B_round * 512 + blk_j * 32 + tid / 8 * 64 +
                    tid % 8 * 4];
        // 3: (de-)comp( 4, 4, ^ ) ( ^, ^ ; ^ ) ( THR.y, THR.x, ^ )
        __syncthreads();  // A_SM is filled
        for (int k_4 = 0; k_4 < 16; ++k_4) {
            // 4: (de-)comp( ^, ^, 1 ) ( A:RM[1,2], B:RM[1,2] ; ^ ) ( ^, ^, FOR.1 )
            float A_RM[4];
            #pragma unroll
            for (int c_A0 = 0; c_A0 < 4; ++c_A0)
                A_RM[c_A0] = A_SM[swizzle_64_4_32(thr_i * 64 + c_A0 * 16 + k_4)];
            __align__(16) float B_RM[4];
            *(float4 *)&B_RM[0] = *(const float4 *)&B_SM[swizzle_128_4_32(k_4 * 32 + thr_j * 4)];
            #pragma unroll
            for (int i_5 = 0; i_5 < 4; ++i_5) {
                #pragma unroll
                for (int j_5 = 0; j_5 < 4; ++j_5) {
                    float C_RM = 0.0f;
                    C_RM += A_RM[i_5] * B_RM[j_5];
                    C[blk_i * 2048 + thr_i * 256 + i_5 * 64 + blk_j * 32 + thr_j * 4 + j_5] += C_RM;
                }
            }
        }
    }
}
