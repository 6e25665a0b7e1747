extern "C" __global__ void __launch_bounds__(64)
matmul_kernel(const float *A, const float *B, float *C)
{
    __shared__ __align__(16) float B_SM[256];
    asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernels in front have ended
    const int tid = (int)threadIdx.y * 8 + (int)threadIdx.x;
    const int thr_i = threadIdx.y;
    const int thr_j = threadIdx.x;
    const int blk_i = blockIdx.y;
    float C_RM[32] = {};
    // 1: (de-)comp( 32, 64, ^ ) ( ^, ^ ; C:RM[1,2] ) ( BLK.y, BLK.x, ^ )
    // 2: (de-)comp( 4, 8, ^ ) ( ^, ^ ; ^ ) ( THR.y, THR.x, ^ )
    // 3: (de-)comp( ^, ^, 2 ) ( A:RM[1,2], B:SM[1,2] ; ^ ) ( ^, ^, FOR.1 ) @stages(2)
    {
        if (tid < 32)
            *(float4 *)&B_SM[tid / 16 * 64 + tid % 16 * 4] = *(const float4 *)&B[tid / 16 * 64 +
                    tid % 16 * 4];
    }
    __align__(8) float A_RM[16];
    #pragma unroll
    for (int c_A0 = 0; c_A0 < 4; ++c_A0)
        *(float2 *)&A_RM[c_A0 * 2] = *(const float2 *)&A[blk_i * 1536 + thr_i * 192 + c_A0 * 48];
    for (int k_3_first = 0; k_3_first < 24; k_3_first += 2) {
        #pragma unroll
        for (int slot_k_3 = 0; slot_k_3 < 2; ++slot_k_3) {
            const int k_3 = k_3_first + slot_k_3;
            __syncthreads();  // the slot is filled, and the one before it is free
            __align__(16) float B_next[4];
            if (k_3 + 1 < 24) {
                if (tid < 32)
                    *(float4 *)&B_next[0] = *(const float4 *)&B[k_3 * 128 + 128 + tid / 16 * 64 +
                            tid % 16 * 4];
            }
            const int slot_k_3_2 = k_3 % 2;
            const int next_k_3 = min(k_3 + 1, 23);
            const int fill_3 = (slot_k_3 + 1) % 2;
            #pragma unroll
            for (int c_A0_2 = 0; c_A0_2 < 4; ++c_A0_2)
                *(float2 *)&A_RM[fill_3 * 8 + c_A0_2 * 2] = *(const float2 *)&A[blk_i * 1536 + thr_i * 192 +
                        c_A0_2 * 48 + next_k_3 * 2];
            #pragma unroll
            for (int k_4 = 0; k_4 < 2; ++k_4) {
                #pragma unroll
                for (int i_4 = 0; i_4 < 4; ++i_4) {
                    #pragma unroll
                    for (int j_4 = 0; j_4 < 8; j_4 += 4) {
                        __align__(16) float B_SM_row[4];
                        *(float4 *)&B_SM_row[0] = *(const float4 *)&B_SM[slot_k_3_2 * 128 + k_4 * 64 +
                                thr_j * 8 + j_4];
                        #pragma unroll
                        for (int lane = 0; lane < 4; ++lane)
                            C_RM[i_4 * 8 + j_4 + lane] += A_RM[slot_k_3 * 8 + i_4 * 2 + k_4] * B_SM_row[lane];
                    }
                }
            }
            if (k_3 + 1 < 24) {
                const int fill_2 = (k_3 + 1) % 2;
                if (tid < 32)
                    *(float4 *)&B_SM[fill_2 * 128 + tid / 16 * 64 + tid % 16 * 4] =
                            *(const float4 *)&B_next[0];
            }
        }
    }
    __syncthreads();  // all slots are free again
    #pragma unroll
    for (int i_4 = 0; i_4 < 4; ++i_4) {
        #pragma unroll
        for (int j_4 = 0; j_4 < 8; j_4 += 4) {
            __align__(16) float C_row[4];
            *(float4 *)&C_row[0] = *(const float4 *)&C[blk_i * 2048 + thr_i * 256 + i_4 * 64 + thr_j * 8 +
                    j_4];
            #pragma unroll
            for (int lane_2 = 0; lane_2 < 4; ++lane_2)
                C_row[lane_2] += C_RM[i_4 * 8 + j_4 + lane_2];
            *(float4 *)&C[blk_i * 2048 + thr_i * 256 + i_4 * 64 + thr_j * 8 + j_4] =
                    *(const float4 *)&C_row[0];
        }
    }
}
