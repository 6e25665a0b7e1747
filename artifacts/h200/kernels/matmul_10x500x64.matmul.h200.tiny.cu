extern "C" __global__ void __launch_bounds__(100)
matmul_init_kernel(const float *A, const float *B, float *C)
{
    __shared__ __align__(16) float A_SM[892];
    __shared__ __align__(16) float B_SM[640];
    asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernels in front have ended
    const int tid = (int)threadIdx.y * 10 + (int)threadIdx.x;
    const int thr_i = threadIdx.y;
    const int thr_j = threadIdx.x;
    const int blk_j = blockIdx.x;
    // 1: (de-)comp( ^, 10, ^ ) ( ^, ^ ; ^ ) ( ^, BLK.x, ^ )
    float C_RM = 0.0f;
    // 2: (de-)comp( ^, ^, 64 ) ( A:SM[2,1]@pad(4), B:SM[1,2] ; C:RM[1,2] ) ( ^, ^, FOR.1 )
    #pragma unroll
    for (int c_A_round = 0; c_A_round < 2; ++c_A_round) {
        if (c_A_round * 100 + tid < 160) {
            const int c_A = c_A_round * 100 + tid;
            __align__(16) float A_row[4];
            *(float4 *)&A_row[0] = *(const float4 *)&A[c_A / 16 * 64 + c_A % 16 * 4];
            #pragma unroll
            for (int lane = 0; lane < 4; ++lane)
                A_SM[lane * 14 + c_A / 16 + c_A % 16 * 56] = A_row[lane];
        }
    }
    #pragma unroll
    for (int c_B_round = 0; c_B_round < 4; ++c_B_round) {
        if (c_B_round * 100 + tid < 320) {
            const int c_B = c_B_round * 100 + tid;
            *(float2 *)&B_SM[c_B / 5 * 10 + c_B % 5 * 2] = *(const float2 *)&B[blk_j * 10 + c_B / 5 * 500 +
                    c_B % 5 * 2];
        }
    }
    // 3: (de-)comp( 1, 1, ^ ) ( ^, ^ ; ^ ) ( THR.y, THR.x, ^ )
    __syncthreads();  // A_SM is filled
    #pragma unroll
    for (int k_4 = 0; k_4 < 64; ++k_4) {
        // 4: (de-)comp( ^, ^, 1 ) ( A:RM[1,2], B:RM[1,2] ; ^ ) ( ^, ^, FOR.1 ) @unroll
        float A_RM;
        A_RM = A_SM[k_4 * 14 + thr_i];
        float B_RM;
        B_RM = B_SM[k_4 * 10 + thr_j];
        C_RM += A_RM * B_RM;
    }
    C[thr_i * 500 + blk_j * 10 + thr_j] = C_RM;
}
