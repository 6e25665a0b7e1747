extern "C" __global__ void __launch_bounds__(256, 2)
matmul_init_kernel(const float *A, const float *B, float *C)
{
    extern __shared__ __align__(128) unsigned char shared_[];
    float *const A_SM = (float *)(shared_);
    float *const B_SM = (float *)(shared_ + 17344);
    asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernels in front have ended
    const int tid = threadIdx.x;
    const int thr_i = tid / 4 % 8;
    const int thr_i_2 = tid % 2;
    const int wrp_j = tid / 32;
    const int thr_j = tid / 2 % 2;
    const int group = (int)blockIdx.x / 32;
    const int in_group = (int)blockIdx.x % 32;
    const int blk_i = group * 4 + in_group % 4;
    const int blk_j = in_group / 4;
    // 1: (de-)comp( 64, 128, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ ) @order(grouped(4)) @occupancy(2)
    __align__(16) float C_RM[32] = {};
    // 2: (de-)comp( ^, ^, 16 ) ( A:SM[2,1]@pad(4), B:SM[1,2]@pad(8) ; C:RM[1,2] ) ( ^, ^, FOR.1 ) @stages(4)
    {
        __align__(16) float A_row[4];
        *(float4 *)&A_row[0] = *(const float4 *)&A[blk_i * 65536 + tid / 4 * 1024 + tid % 4 * 4];
        #pragma unroll
        for (int lane = 0; lane < 4; ++lane)
            A_SM[lane * 68 + tid / 4 + tid % 4 * 272] = A_row[lane];
    }
    {
        #pragma unroll
        for (int c_B_round = 0; c_B_round < 2; ++c_B_round)
            *(float4 *)&B_SM[c_B_round * 1088 + tid / 32 * 136 + tid % 32 * 4] =
                    *(const float4 *)&B[c_B_round * 8192 + blk_j * 128 + tid / 32 * 1024 + tid % 32 * 4];
    }
    for (int k_2 = 0; k_2 < 64; ++k_2) {
        __syncthreads();  // the slot is filled, and the one before it is free
        __align__(16) float A_next[4];
        __align__(16) float B_next[8];
        if (k_2 + 1 < 64) {
            *(float4 *)&A_next[0] = *(const float4 *)&A[blk_i * 65536 + k_2 * 16 + 16 + tid / 4 * 1024 +
                    tid % 4 * 4];
            #pragma unroll
            for (int c_B_round_2 = 0; c_B_round_2 < 2; ++c_B_round_2)
                *(float4 *)&B_next[c_B_round_2 * 4] = *(const float4 *)&B[k_2 * 16384 + c_B_round_2 * 8192 +
                        blk_j * 128 + 16384 + tid / 32 * 1024 + tid % 32 * 4];
        }
        const int slot_k_2 = k_2 % 4;
        // 3: (de-)comp( 64, 16, ^ ) ( ^, ^ ; ^ ) ( WRP.y, WRP.x, ^ )
        // 4: (de-)comp( 8, ^, ^ ) ( ^, ^ ; ^ ) ( THR.z, ^, ^ )
        // 5: (de-)comp( 4, 8, ^ ) ( ^, ^ ; ^ ) ( THR.x, THR.y@cyclic(4), ^ )
        // 6: (de-)comp( ^, ^, 1 ) ( A:RM[1,2], B:RM[1,2] ; ^ ) ( ^, ^, FOR.1 ) @unroll @stages(3)
        __align__(16) float A_RM[12];
        __align__(16) float B_RM[24];
        *(float4 *)&A_RM[0] = *(const float4 *)&A_SM[slot_k_2 * 1084 + thr_i * 8 + thr_i_2 * 4];
        #pragma unroll
        for (int c_B1 = 0; c_B1 < 8; c_B1 += 4)
            *(float4 *)&B_RM[c_B1] = *(const float4 *)&B_SM[slot_k_2 * 2168 + wrp_j * 16 + thr_j * 4 +
                    c_B1 / 4 * 8 + c_B1 % 4];
        *(float4 *)&A_RM[4] = *(const float4 *)&A_SM[slot_k_2 * 1084 + thr_i * 8 + thr_i_2 * 4 + 68];
        #pragma unroll
        for (int c_B1_2 = 0; c_B1_2 < 8; c_B1_2 += 4)
            *(float4 *)&B_RM[c_B1_2 + 8] = *(const float4 *)&B_SM[slot_k_2 * 2168 + wrp_j * 16 + thr_j * 4 +
                    136 + c_B1_2 / 4 * 8 + c_B1_2 % 4];
        #pragma unroll
        for (int k_6 = 0; k_6 < 16; ++k_6) {
            const int slot_k_6 = k_6 % 3;
            if (k_6 + 2 <= 15) {
                const int next_k_6 = k_6 + 2;
                const int fill_5 = (slot_k_6 + 2) % 3;
                *(float4 *)&A_RM[fill_5 * 4] = *(const float4 *)&A_SM[slot_k_2 * 1084 + next_k_6 * 68 +
                        thr_i * 8 + thr_i_2 * 4];
                #pragma unroll
                for (int c_B1_3 = 0; c_B1_3 < 8; c_B1_3 += 4)
                    *(float4 *)&B_RM[fill_5 * 8 + c_B1_3] = *(const float4 *)&B_SM[slot_k_2 * 2168 +
                            next_k_6 * 136 + wrp_j * 16 + thr_j * 4 + c_B1_3 / 4 * 8 + c_B1_3 % 4];
            }
            #pragma unroll
            for (int i_7 = 0; i_7 < 4; ++i_7) {
                #pragma unroll
                for (int j_7h = 0; j_7h < 2; ++j_7h) {
                    #pragma unroll
                    for (int j_7l = 0; j_7l < 4; ++j_7l)
                        C_RM[i_7 * 8 + j_7h * 4 + j_7l] += A_RM[slot_k_6 * 4 + i_7] * B_RM[slot_k_6 * 8 +
                                j_7h * 4 + j_7l];
                }
            }
        }
        if (k_2 + 1 < 64) {
            const int fill_3 = (k_2 + 1) % 4;
            A_SM[fill_3 * 1084 + tid / 4 + tid % 4 * 272] = A_next[0];
            A_SM[fill_3 * 1084 + 68 + tid / 4 + tid % 4 * 272] = A_next[1];
            A_SM[fill_3 * 1084 + 136 + tid / 4 + tid % 4 * 272] = A_next[2];
            A_SM[fill_3 * 1084 + 204 + tid / 4 + tid % 4 * 272] = A_next[3];
            const int fill_4 = (k_2 + 1) % 4;
            #pragma unroll
            for (int c_B_round_2 = 0; c_B_round_2 < 2; ++c_B_round_2)
                *(float4 *)&B_SM[fill_4 * 2168 + c_B_round_2 * 1088 + tid / 32 * 136 + tid % 32 * 4] =
                        *(const float4 *)&B_next[c_B_round_2 * 4];
        }
    }
    __syncthreads();  // all slots are free again
    #pragma unroll
    for (int i_7 = 0; i_7 < 4; ++i_7) {
        #pragma unroll
        for (int j_7h = 0; j_7h < 2; ++j_7h)
            *(float4 *)&C[blk_i * 65536 + thr_i * 8192 + thr_i_2 * 4096 + i_7 * 1024 + blk_j * 128 +
                    wrp_j * 16 + j_7h * 8 + thr_j * 4] = *(const float4 *)&C_RM[i_7 * 8 + j_7h * 4];
    }
}
