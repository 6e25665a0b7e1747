extern "C" __global__ void __launch_bounds__(256)
batched_matmul_t_kernel(const float *A, const float *B, float *C)
{
    extern __shared__ __align__(128) unsigned char shared_[];
    float *const A_SM = (float *)(shared_);
    float *const B_SM = (float *)(shared_ + 33728);
    asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernels in front have ended
    const int tid = threadIdx.x;
    const int wrp_i = tid / 32 % 4;
    const int thr_i = tid / 16 % 2;
    const int thr_i_2 = tid % 2;
    const int wrp_j = tid / 128;
    const int thr_j = tid / 2 % 8;
    const int blk_j = blockIdx.x;
    // 1: (de-)comp( ^, 128, 128, ^ ) ( ^, ^ ; ^ ) ( ^, BLK.y, BLK.x, ^ )
    __align__(16) float C_RM[64] = {};
    // 2: (de-)comp( ^, ^, ^, 16 )
    //             ( A:SM[1,3,2]@pad(4), B:SM[1,3,2]@pad(4) ; C:RM[1,2,3] )
    //             ( ^, ^, ^, FOR.1 ) @stages(4)
    {
        #pragma unroll
        for (int c_A_round = 0; c_A_round < 2; ++c_A_round) {
            __align__(16) float A_row[4];
            *(float4 *)&A_row[0] = *(const float4 *)&A[c_A_round * 262144 + tid / 4 * 4096 + tid % 4 * 4];
            #pragma unroll
            for (int lane = 0; lane < 4; ++lane)
                A_SM[lane * 132 + c_A_round * 64 + tid / 4 + tid % 4 * 528] = A_row[lane];
        }
    }
    {
        #pragma unroll
        for (int c_B_round = 0; c_B_round < 2; ++c_B_round) {
            __align__(16) float B_row[4];
            *(float4 *)&B_row[0] = *(const float4 *)&B[blk_j * 524288 + c_B_round * 262144 + tid / 4 * 4096 +
                    tid % 4 * 4];
            #pragma unroll
            for (int lane_2 = 0; lane_2 < 4; ++lane_2)
                B_SM[lane_2 * 132 + c_B_round * 64 + tid / 4 + tid % 4 * 528] = B_row[lane_2];
        }
    }
    for (int k_2 = 0; k_2 < 256; ++k_2) {
        __syncthreads();  // the slot is filled, and the one before it is free
        __align__(16) float A_next[8];
        __align__(16) float B_next[8];
        if (k_2 + 1 < 256) {
            #pragma unroll
            for (int c_A_round_2 = 0; c_A_round_2 < 2; ++c_A_round_2)
                *(float4 *)&A_next[c_A_round_2 * 4] = *(const float4 *)&A[c_A_round_2 * 262144 + k_2 * 16 +
                        16 + tid / 4 * 4096 + tid % 4 * 4];
            #pragma unroll
            for (int c_B_round_2 = 0; c_B_round_2 < 2; ++c_B_round_2)
                *(float4 *)&B_next[c_B_round_2 * 4] = *(const float4 *)&B[blk_j * 524288 +
                        c_B_round_2 * 262144 + k_2 * 16 + 16 + tid / 4 * 4096 + tid % 4 * 4];
        }
        const int slot_k_2 = k_2 % 4;
        // 3: (de-)comp( ^, 32, 64, ^ ) ( ^, ^ ; ^ ) ( ^, WRP.x, WRP.y, ^ )
        // 4: (de-)comp( ^, 16, ^, ^ ) ( ^, ^ ; ^ ) ( ^, THR.z, ^, ^ )
        // 5: (de-)comp( ^, 8, 8, ^ ) ( ^, ^ ; ^ ) ( ^, THR.x@cyclic(4), THR.y@cyclic(4), ^ )
        #pragma unroll
        for (int k_6 = 0; k_6 < 8; ++k_6) {
            // 6: (de-)comp( ^, ^, ^, 2 ) ( ^, B:RM[1,2,3] ; ^ ) ( ^, ^, ^, FOR.1 ) @unroll
            float B_RM[16];
            #pragma unroll
            for (int c_B1 = 0; c_B1 < 8; ++c_B1) {
                #pragma unroll
                for (int c_B2 = 0; c_B2 < 2; ++c_B2)
                    B_RM[c_B1 * 2 + c_B2] = B_SM[slot_k_2 * 2108 + k_6 * 264 + c_B2 * 132 + wrp_j * 64 +
                            thr_j * 4 + c_B1 / 4 * 32 + c_B1 % 4];
            }
            #pragma unroll
            for (int k_7 = 0; k_7 < 2; ++k_7) {
                #pragma unroll
                for (int i_7h = 0; i_7h < 2; ++i_7h) {
                    #pragma unroll
                    for (int i_7l = 0; i_7l < 4; ++i_7l) {
                        #pragma unroll
                        for (int j_7h = 0; j_7h < 2; ++j_7h) {
                            #pragma unroll
                            for (int j_7l = 0; j_7l < 4; ++j_7l)
                                C_RM[i_7h * 32 + i_7l * 8 + j_7h * 4 + j_7l] += A_SM[slot_k_2 * 2108 +
                                        k_6 * 264 + k_7 * 132 + wrp_i * 32 + thr_i * 16 + i_7h * 8 +
                                        thr_i_2 * 4 + i_7l] * B_RM[j_7h * 8 + j_7l * 2 + k_7];
                        }
                    }
                }
            }
        }
        if (k_2 + 1 < 256) {
            const int fill_3 = (k_2 + 1) % 4;
            #pragma unroll
            for (int c_A_round_2 = 0; c_A_round_2 < 2; ++c_A_round_2) {
                A_SM[fill_3 * 2108 + c_A_round_2 * 64 + tid / 4 + tid % 4 * 528] = A_next[c_A_round_2 * 4];
                A_SM[fill_3 * 2108 + c_A_round_2 * 64 + 132 + tid / 4 + tid % 4 * 528] =
                        A_next[c_A_round_2 * 4 + 1];
                A_SM[fill_3 * 2108 + c_A_round_2 * 64 + 264 + tid / 4 + tid % 4 * 528] =
                        A_next[c_A_round_2 * 4 + 2];
                A_SM[fill_3 * 2108 + c_A_round_2 * 64 + 396 + tid / 4 + tid % 4 * 528] =
                        A_next[c_A_round_2 * 4 + 3];
            }
            const int fill_4 = (k_2 + 1) % 4;
            #pragma unroll
            for (int c_B_round_2 = 0; c_B_round_2 < 2; ++c_B_round_2) {
                B_SM[fill_4 * 2108 + c_B_round_2 * 64 + tid / 4 + tid % 4 * 528] = B_next[c_B_round_2 * 4];
                B_SM[fill_4 * 2108 + c_B_round_2 * 64 + 132 + tid / 4 + tid % 4 * 528] =
                        B_next[c_B_round_2 * 4 + 1];
                B_SM[fill_4 * 2108 + c_B_round_2 * 64 + 264 + tid / 4 + tid % 4 * 528] =
                        B_next[c_B_round_2 * 4 + 2];
                B_SM[fill_4 * 2108 + c_B_round_2 * 64 + 396 + tid / 4 + tid % 4 * 528] =
                        B_next[c_B_round_2 * 4 + 3];
            }
        }
    }
    __syncthreads();  // all slots are free again
    #pragma unroll
    for (int i_7h = 0; i_7h < 2; ++i_7h) {
        #pragma unroll
        for (int i_7l = 0; i_7l < 4; ++i_7l) {
            #pragma unroll
            for (int j_7h = 0; j_7h < 2; ++j_7h)
                *(float4 *)&C[wrp_i * 524288 + thr_i * 262144 + i_7h * 131072 + thr_i_2 * 65536 +
                        i_7l * 16384 + blk_j * 128 + wrp_j * 64 + j_7h * 32 + thr_j * 4] =
                        *(const float4 *)&C_RM[i_7h * 32 + i_7l * 8 + j_7h * 4];
        }
    }
}
