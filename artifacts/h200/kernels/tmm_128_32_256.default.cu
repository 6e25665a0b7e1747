extern "C" __global__ void __launch_bounds__(64)
batched_matmul_t_kernel(const float *A, const float *B, float *C)
{
    __shared__ __align__(16) float A_SM[636];
    __shared__ __align__(16) float B_SM[1148];
    asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernels in front have ended
    const int tid = threadIdx.x;
    const int wrp_i = tid / 32;
    const int thr_i = tid / 16 % 2;
    const int thr_i_2 = tid % 2;
    const int thr_j = tid / 2 % 8;
    const int blk_i = blockIdx.y;
    const int blk_j = blockIdx.x;
    // 1: (de-)comp( ^, 16, 32, ^ ) ( ^, ^ ; ^ ) ( ^, BLK.y, BLK.x, ^ )
    __align__(16) float C_RM[8] = {};
    // 2: (de-)comp( ^, ^, ^, ^ ) ( A:SM[1,3,2]@pad(4), B:SM[1,3,2]@pad(4) ; C:RM[1,2,3] ) ( ^, ^, ^, ^ )
    #pragma unroll
    for (int c_A_round = 0; c_A_round < 2; ++c_A_round) {
        __align__(16) float A_row[4];
        *(float4 *)&A_row[0] = *(const float4 *)&A[blk_i * 512 + c_A_round * 256 + tid / 8 * 32 +
                tid % 8 * 4];
        #pragma unroll
        for (int lane = 0; lane < 4; ++lane)
            A_SM[lane * 20 + c_A_round * 8 + tid / 8 + tid % 8 * 80] = A_row[lane];
    }
    #pragma unroll
    for (int c_B_round = 0; c_B_round < 4; ++c_B_round) {
        __align__(16) float B_row[4];
        *(float4 *)&B_row[0] = *(const float4 *)&B[blk_j * 1024 + c_B_round * 256 + tid / 8 * 32 +
                tid % 8 * 4];
        #pragma unroll
        for (int lane_2 = 0; lane_2 < 4; ++lane_2)
            B_SM[lane_2 * 36 + c_B_round * 8 + tid / 8 + tid % 8 * 144] = B_row[lane_2];
    }
    // 3: (de-)comp( ^, 8, ^, ^ ) ( ^, ^ ; ^ ) ( ^, WRP.y, ^, ^ )
    // 4: (de-)comp( ^, 4, ^, ^ ) ( ^, ^ ; ^ ) ( ^, THR.z, ^, ^ )
    // 5: (de-)comp( ^, 2, 4, ^ ) ( ^, ^ ; ^ ) ( ^, THR.x, THR.y, ^ )
    __syncthreads();  // A_SM is filled
    #pragma unroll
    for (int k_6 = 0; k_6 < 32; ++k_6) {
        // 6: (de-)comp( ^, ^, ^, 1 ) ( A:RM[1,2,3], B:RM[1,2,3] ; ^ ) ( ^, ^, ^, ^ ) @unroll
        __align__(8) float A_RM[2];
        *(float2 *)&A_RM[0] = *(const float2 *)&A_SM[k_6 * 20 + wrp_i * 8 + thr_i * 4 + thr_i_2 * 2];
        __align__(16) float B_RM[4];
        *(float4 *)&B_RM[0] = *(const float4 *)&B_SM[k_6 * 36 + thr_j * 4];
        #pragma unroll
        for (int i_7 = 0; i_7 < 2; ++i_7) {
            #pragma unroll
            for (int j_7 = 0; j_7 < 4; ++j_7)
                C_RM[i_7 * 4 + j_7] += A_RM[i_7] * B_RM[j_7];
        }
    }
    #pragma unroll
    for (int i_7 = 0; i_7 < 2; ++i_7)
        *(float4 *)&C[blk_i * 4096 + wrp_i * 2048 + thr_i * 1024 + thr_i_2 * 512 + i_7 * 256 + blk_j * 32 +
                thr_j * 4] = *(const float4 *)&C_RM[i_7 * 4];
}
