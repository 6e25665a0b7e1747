extern "C" __global__ void __launch_bounds__(64)
matmul_kernel(const float *A, const float *B, float *C)
{
    __shared__ __align__(16) float A_SM[1024];
    __shared__ __align__(16) float B_SM[1024];
    asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernels in front have ended
    const int tid = (int)threadIdx.y * 8 + (int)threadIdx.x;
    const int thr_i = threadIdx.y;
    const int thr_j = threadIdx.x;
    const int blk_i = blockIdx.y;
    const int blk_j = blockIdx.x;
    // 1: (de-)comp( 32, 32, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ )
    float C_RM[16] = {};
    // 2: (de-)comp( ^, ^, 16 )
    //             ( A:SM[2,1], B:SM[1,2] ; C:RM[1,2]@store(plain, vec=2) )
    //             ( ^, ^, FOR.1 ) @stages(2)
    {
        #pragma unroll
        for (int c_A_round = 0; c_A_round < 2; ++c_A_round) {
            __align__(16) float A_row[4];
            *(float4 *)&A_row[0] = *(const float4 *)&A[blk_i * 1536 + c_A_round * 768 + tid / 4 * 48 +
                    tid % 4 * 4];
            #pragma unroll
            for (int lane = 0; lane < 4; ++lane)
                A_SM[lane * 32 + c_A_round * 16 + tid / 4 + tid % 4 * 128] = A_row[lane];
        }
    }
    {
        #pragma unroll
        for (int c_B_round = 0; c_B_round < 2; ++c_B_round)
            *(float4 *)&B_SM[c_B_round * 256 + tid / 8 * 32 + tid % 8 * 4] =
                    *(const float4 *)&B[c_B_round * 512 + blk_j * 32 + tid / 8 * 64 + tid % 8 * 4];
    }
    for (int k_2 = 0; k_2 < 3; ++k_2) {
        __syncthreads();  // the slot is filled, and the one before it is free
        __align__(16) float A_next[8];
        __align__(16) float B_next[8];
        if (k_2 + 1 < 3) {
            #pragma unroll
            for (int c_A_round_2 = 0; c_A_round_2 < 2; ++c_A_round_2)
                *(float4 *)&A_next[c_A_round_2 * 4] = *(const float4 *)&A[blk_i * 1536 + c_A_round_2 * 768 +
                        k_2 * 16 + 16 + tid / 4 * 48 + tid % 4 * 4];
            #pragma unroll
            for (int c_B_round_2 = 0; c_B_round_2 < 2; ++c_B_round_2)
                *(float4 *)&B_next[c_B_round_2 * 4] = *(const float4 *)&B[k_2 * 1024 + c_B_round_2 * 512 +
                        blk_j * 32 + 1024 + tid / 8 * 64 + tid % 8 * 4];
        }
        const int slot_k_2 = k_2 % 2;
        // 3: (de-)comp( 4, 4, ^ ) ( ^, ^ ; ^ ) ( THR.y, THR.x, ^ )
        for (int k_4 = 0; k_4 < 16; ++k_4) {
            #pragma unroll
            for (int i_4 = 0; i_4 < 4; ++i_4) {
                #pragma unroll
                for (int j_4 = 0; j_4 < 4; j_4 += 4) {
                    __align__(16) float B_SM_row[4];
                    *(float4 *)&B_SM_row[0] = *(const float4 *)&B_SM[slot_k_2 * 512 + k_4 * 32 + thr_j * 4 +
                            j_4];
                    #pragma unroll
                    for (int lane_2 = 0; lane_2 < 4; ++lane_2)
                        C_RM[i_4 * 4 + j_4 + lane_2] += A_SM[slot_k_2 * 512 + k_4 * 32 + thr_i * 4 +
                                i_4] * B_SM_row[lane_2];
                }
            }
        }
        if (k_2 + 1 < 3) {
            const int fill_3 = (k_2 + 1) % 2;
            #pragma unroll
            for (int c_A_round_2 = 0; c_A_round_2 < 2; ++c_A_round_2) {
                A_SM[fill_3 * 512 + c_A_round_2 * 16 + tid / 4 + tid % 4 * 128] = A_next[c_A_round_2 * 4];
                A_SM[fill_3 * 512 + c_A_round_2 * 16 + 32 + tid / 4 + tid % 4 * 128] =
                        A_next[c_A_round_2 * 4 + 1];
                A_SM[fill_3 * 512 + c_A_round_2 * 16 + 64 + tid / 4 + tid % 4 * 128] =
                        A_next[c_A_round_2 * 4 + 2];
                A_SM[fill_3 * 512 + c_A_round_2 * 16 + 96 + tid / 4 + tid % 4 * 128] =
                        A_next[c_A_round_2 * 4 + 3];
            }
            const int fill_4 = (k_2 + 1) % 2;
            #pragma unroll
            for (int c_B_round_2 = 0; c_B_round_2 < 2; ++c_B_round_2)
                *(float4 *)&B_SM[fill_4 * 512 + c_B_round_2 * 256 + tid / 8 * 32 + tid % 8 * 4] =
                        *(const float4 *)&B_next[c_B_round_2 * 4];
        }
    }
    __syncthreads();  // all slots are free again
    #pragma unroll
    for (int i_4 = 0; i_4 < 4; ++i_4) {
        #pragma unroll
        for (int j_4 = 0; j_4 < 4; j_4 += 2) {
            __align__(8) float C_row[2];
            *(float2 *)&C_row[0] = *(const float2 *)&C[blk_i * 2048 + thr_i * 256 + i_4 * 64 + blk_j * 32 +
                    thr_j * 4 + j_4];
            #pragma unroll
            for (int lane_3 = 0; lane_3 < 2; ++lane_3)
                C_row[lane_3] += C_RM[i_4 * 4 + j_4 + lane_3];
            *(float2 *)&C[blk_i * 2048 + thr_i * 256 + i_4 * 64 + blk_j * 32 + thr_j * 4 + j_4] =
                    *(const float2 *)&C_row[0];
        }
    }
}
