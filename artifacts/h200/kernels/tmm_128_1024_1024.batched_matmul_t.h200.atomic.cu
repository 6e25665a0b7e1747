extern "C" __global__ void __launch_bounds__(256)
batched_matmul_t_start(float *C)
{
    asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernels in front have ended
    const int thr_j = threadIdx.x;
    const int blk_i = blockIdx.y;
    const int blk_j = blockIdx.x;
    C[blk_i * 1024 + blk_j * 256 + thr_j] = 0.0f;
}

extern "C" __global__ void __launch_bounds__(128, 3)
batched_matmul_t_kernel(const float *A, const float *B, float *C)
{
    __shared__ __align__(16) float A_SM[4336];
    __shared__ __align__(16) float B_SM[4336];
    asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernels in front have ended
    const int tid = threadIdx.x;
    const int wrp_i = tid / 32 % 2;
    const int thr_i = tid / 16 % 2;
    const int thr_i_2 = tid % 2;
    const int wrp_j = tid / 64;
    const int thr_j = tid / 2 % 8;
    const int blk_i = blockIdx.z;
    const int blk_j = blockIdx.x;
    const int blk_k = blockIdx.y;
    // 1: (de-)comp( ^, 64, 64, 128 ) ( ^, ^ ; ^@combine(atomic) ) ( ^, BLK.z, BLK.x, BLK.y ) @occupancy(3)
    __align__(16) float C_RM[32] = {};
    // 2: (de-)comp( ^, ^, ^, 16 )
    //             ( A:SM[1,3,2]@pad(4), B:SM[1,3,2]@pad(4) ; C:RM[1,2,3] )
    //             ( ^, ^, ^, FOR.1 ) @stages(4)
    {
        #pragma unroll
        for (int c_A_round = 0; c_A_round < 2; ++c_A_round) {
            __align__(16) float A_row[4];
            *(float4 *)&A_row[0] = *(const float4 *)&A[blk_i * 65536 + c_A_round * 32768 + blk_k * 128 +
                    tid / 4 * 1024 + tid % 4 * 4];
            #pragma unroll
            for (int lane = 0; lane < 4; ++lane)
                A_SM[lane * 68 + c_A_round * 32 + tid / 4 + tid % 4 * 272] = A_row[lane];
        }
    }
    {
        #pragma unroll
        for (int c_B_round = 0; c_B_round < 2; ++c_B_round) {
            __align__(16) float B_row[4];
            *(float4 *)&B_row[0] = *(const float4 *)&B[blk_j * 65536 + c_B_round * 32768 + blk_k * 128 +
                    tid / 4 * 1024 + tid % 4 * 4];
            #pragma unroll
            for (int lane_2 = 0; lane_2 < 4; ++lane_2)
                B_SM[lane_2 * 68 + c_B_round * 32 + tid / 4 + tid % 4 * 272] = B_row[lane_2];
        }
    }
    for (int k_2 = 0; k_2 < 8; ++k_2) {
        __syncthreads();  // the slot is filled, and the one before it is free
        __align__(16) float A_next[8];
        __align__(16) float B_next[8];
        if (k_2 + 1 < 8) {
            #pragma unroll
            for (int c_A_round_2 = 0; c_A_round_2 < 2; ++c_A_round_2)
                *(float4 *)&A_next[c_A_round_2 * 4] = *(const float4 *)&A[blk_i * 65536 +
                        c_A_round_2 * 32768 + blk_k * 128 + k_2 * 16 + 16 + tid / 4 * 1024 + tid % 4 * 4];
            #pragma unroll
            for (int c_B_round_2 = 0; c_B_round_2 < 2; ++c_B_round_2)
                *(float4 *)&B_next[c_B_round_2 * 4] = *(const float4 *)&B[blk_j * 65536 +
                        c_B_round_2 * 32768 + blk_k * 128 + k_2 * 16 + 16 + tid / 4 * 1024 + tid % 4 * 4];
        }
        const int slot_k_2 = k_2 % 4;
        // 3: (de-)comp( ^, 32, 32, ^ ) ( ^, ^ ; ^ ) ( ^, WRP.x, WRP.y, ^ )
        // 4: (de-)comp( ^, 16, ^, ^ ) ( ^, ^ ; ^ ) ( ^, THR.z, ^, ^ )
        // 5: (de-)comp( ^, 8, 4, ^ ) ( ^, ^ ; ^ ) ( ^, THR.x@cyclic(4), THR.y, ^ )
        // 6: (de-)comp( ^, ^, ^, 1 ) ( ^, B:RM[1,2,3] ; ^ ) ( ^, ^, ^, FOR.1 ) @unroll @stages(2)
        __align__(16) float B_RM[8];
        *(float4 *)&B_RM[0] = *(const float4 *)&B_SM[slot_k_2 * 1084 + wrp_j * 32 + thr_j * 4];
        #pragma unroll
        for (int k_6 = 0; k_6 < 16; ++k_6) {
            const int slot_k_6 = k_6 % 2;
            if (k_6 + 1 <= 15) {
                const int next_k_6 = k_6 + 1;
                const int fill_5 = (slot_k_6 + 1) % 2;
                *(float4 *)&B_RM[fill_5 * 4] = *(const float4 *)&B_SM[slot_k_2 * 1084 + next_k_6 * 68 +
                        wrp_j * 32 + thr_j * 4];
            }
            #pragma unroll
            for (int i_7h = 0; i_7h < 2; ++i_7h) {
                #pragma unroll
                for (int i_7l = 0; i_7l < 4; ++i_7l) {
                    #pragma unroll
                    for (int j_7 = 0; j_7 < 4; ++j_7)
                        C_RM[i_7h * 16 + i_7l * 4 + j_7] += A_SM[slot_k_2 * 1084 + k_6 * 68 + wrp_i * 32 +
                                thr_i * 16 + i_7h * 8 + thr_i_2 * 4 + i_7l] * B_RM[slot_k_6 * 4 + j_7];
                }
            }
        }
        if (k_2 + 1 < 8) {
            const int fill_3 = (k_2 + 1) % 4;
            #pragma unroll
            for (int c_A_round_2 = 0; c_A_round_2 < 2; ++c_A_round_2) {
                A_SM[fill_3 * 1084 + c_A_round_2 * 32 + tid / 4 + tid % 4 * 272] = A_next[c_A_round_2 * 4];
                A_SM[fill_3 * 1084 + c_A_round_2 * 32 + 68 + tid / 4 + tid % 4 * 272] =
                        A_next[c_A_round_2 * 4 + 1];
                A_SM[fill_3 * 1084 + c_A_round_2 * 32 + 136 + tid / 4 + tid % 4 * 272] =
                        A_next[c_A_round_2 * 4 + 2];
                A_SM[fill_3 * 1084 + c_A_round_2 * 32 + 204 + tid / 4 + tid % 4 * 272] =
                        A_next[c_A_round_2 * 4 + 3];
            }
            const int fill_4 = (k_2 + 1) % 4;
            #pragma unroll
            for (int c_B_round_2 = 0; c_B_round_2 < 2; ++c_B_round_2) {
                B_SM[fill_4 * 1084 + c_B_round_2 * 32 + tid / 4 + tid % 4 * 272] = B_next[c_B_round_2 * 4];
                B_SM[fill_4 * 1084 + c_B_round_2 * 32 + 68 + tid / 4 + tid % 4 * 272] =
                        B_next[c_B_round_2 * 4 + 1];
                B_SM[fill_4 * 1084 + c_B_round_2 * 32 + 136 + tid / 4 + tid % 4 * 272] =
                        B_next[c_B_round_2 * 4 + 2];
                B_SM[fill_4 * 1084 + c_B_round_2 * 32 + 204 + tid / 4 + tid % 4 * 272] =
                        B_next[c_B_round_2 * 4 + 3];
            }
        }
    }
    __syncthreads();  // all slots are free again
    #pragma unroll
    for (int i_7h = 0; i_7h < 2; ++i_7h) {
        #pragma unroll
        for (int i_7l = 0; i_7l < 4; ++i_7l)
            atomicAdd((float4 *)&C[blk_i * 65536 + wrp_i * 32768 + thr_i * 16384 + i_7h * 8192 +
                    thr_i_2 * 4096 + i_7l * 1024 + blk_j * 64 + wrp_j * 32 + thr_j * 4],
                    *(const float4 *)&C_RM[i_7h * 16 + i_7l * 4]);
    }
}
