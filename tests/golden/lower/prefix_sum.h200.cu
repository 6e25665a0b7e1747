extern "C" __global__ void __launch_bounds__(256)
prefix_sum_kernel(const float *__restrict__ A, float *__restrict__ S, int *__restrict__ prefix_sum_tickets,
        int *prefix_sum_state, float *prefix_sum_total, float *prefix_sum_through)
{
    __shared__ __align__(16) float S_SM[3840];
    __shared__ __align__(16) float A_SM[3840];
    __shared__ __align__(16) float scan_f320[256];
    __shared__ __align__(16) float scan_f321[256];
    __shared__ float passed_f32[1];
    __shared__ int tile_prefix_sum[1];
    const int tid = threadIdx.x;
    const int thr_i = threadIdx.x;
    if (tid == 0) {
        const int ticket = atomicAdd(&prefix_sum_tickets[0], 1);
        tile_prefix_sum[0] = ticket;
    }
    __syncthreads();  // every thread learns the block's number
    const int tile = tile_prefix_sum[0];
    const int blk_i = tile % 3;
    if (blk_i < 2) {
        // whole tiles
        // 1: (de-)comp( 3840 ) ( ^ ; ^ ) ( BLK.x )
        __syncthreads();  // S_SM opens
        // 2: (de-)comp( ^ ) ( A:SM[1] ; S:SM[1] ) ( ^ )
        #pragma unroll
        for (int c_A_round = 0; c_A_round < 4; ++c_A_round) {
            if (c_A_round * 256 + tid < 960)
                *(float4 *)&A_SM[c_A_round * 1024 + tid * 4] = *(const float4 *)&A[blk_i * 3840 +
                        c_A_round * 1024 + tid * 4];
        }
        // 3: (de-)comp( 15 ) ( ^ ; ^ ) ( THR.x )
        float S_RM;
        S_RM = 0.0f;
        float mine = 0.0f;
        __syncthreads();  // A_SM is filled
        for (int i_4 = 0; i_4 < 15; ++i_4) {
            const float point = A_SM[thr_i * 15 + i_4];
            mine += point;
        }
        const int unit = thr_i;
        scan_f320[unit] = mine;
        __syncthreads();  // scan_f320 is filled
        const float own = scan_f320[unit];
        if (unit >= 1)
            scan_f321[unit] = scan_f320[unit - 1] + own;
        else
            scan_f321[unit] = own;
        __syncthreads();  // scan_f321 is filled
        const float own_2 = scan_f321[unit];
        if (unit >= 2)
            scan_f320[unit] = scan_f321[unit - 2] + own_2;
        else
            scan_f320[unit] = own_2;
        __syncthreads();  // scan_f320 is filled
        const float own_3 = scan_f320[unit];
        if (unit >= 4)
            scan_f321[unit] = scan_f320[unit - 4] + own_3;
        else
            scan_f321[unit] = own_3;
        __syncthreads();  // scan_f321 is filled
        const float own_4 = scan_f321[unit];
        if (unit >= 8)
            scan_f320[unit] = scan_f321[unit - 8] + own_4;
        else
            scan_f320[unit] = own_4;
        __syncthreads();  // scan_f320 is filled
        const float own_5 = scan_f320[unit];
        if (unit >= 16)
            scan_f321[unit] = scan_f320[unit - 16] + own_5;
        else
            scan_f321[unit] = own_5;
        __syncthreads();  // scan_f321 is filled
        const float own_6 = scan_f321[unit];
        if (unit >= 32)
            scan_f320[unit] = scan_f321[unit - 32] + own_6;
        else
            scan_f320[unit] = own_6;
        __syncthreads();  // scan_f320 is filled
        const float own_7 = scan_f320[unit];
        if (unit >= 64)
            scan_f321[unit] = scan_f320[unit - 64] + own_7;
        else
            scan_f321[unit] = own_7;
        __syncthreads();  // scan_f321 is filled
        const float own_8 = scan_f321[unit];
        if (unit >= 128)
            scan_f320[unit] = scan_f321[unit - 128] + own_8;
        else
            scan_f320[unit] = own_8;
        __syncthreads();  // scan_f320 is filled
        const float before = unit > 0 ? scan_f320[unit - 1] : 0.0f;
        const float total = scan_f320[255];
        if (thr_i == 0) {
            prefix_sum_total[blk_i] = total;
            __threadfence();
            prefix_sum_state[blk_i] = 1;
        }
        if (thr_i < 32) {
            float before_2 = 0.0f;
            int last = blk_i - 1;
            while (last >= 0) {
                const int j = last - thr_i;
                int state = 2;
                float value = 0.0f;
                if (j >= 0) {
                    while (*(volatile const int *)&prefix_sum_state[j] == 0) {}
                    state = *(volatile const int *)&prefix_sum_state[j];
                    __threadfence();
                    if (state == 2)
                        value = *(volatile const float *)&prefix_sum_through[j];
                    else
                        value = *(volatile const float *)&prefix_sum_total[j];
                }
                const int nearest = state == 2 ? thr_i : 32;
                const int nearest_2 = __shfl_xor_sync(0xffffffff, nearest, 1);
                const int nearest_3 = min(nearest, nearest_2);
                const int nearest_4 = __shfl_xor_sync(0xffffffff, nearest_3, 2);
                const int nearest_5 = min(nearest_3, nearest_4);
                const int nearest_6 = __shfl_xor_sync(0xffffffff, nearest_5, 4);
                const int nearest_7 = min(nearest_5, nearest_6);
                const int nearest_8 = __shfl_xor_sync(0xffffffff, nearest_7, 8);
                const int nearest_9 = min(nearest_7, nearest_8);
                const int nearest_10 = __shfl_xor_sync(0xffffffff, nearest_9, 16);
                const int nearest_11 = min(nearest_9, nearest_10);
                if (thr_i > nearest_11)
                    value = 0.0f;
                const float parts = value;
                const float parts_2 = __shfl_xor_sync(0xffffffff, parts, 1);
                const float parts_3 = parts + parts_2;
                const float parts_4 = __shfl_xor_sync(0xffffffff, parts_3, 2);
                const float parts_5 = parts_3 + parts_4;
                const float parts_6 = __shfl_xor_sync(0xffffffff, parts_5, 4);
                const float parts_7 = parts_5 + parts_6;
                const float parts_8 = __shfl_xor_sync(0xffffffff, parts_7, 8);
                const float parts_9 = parts_7 + parts_8;
                const float parts_10 = __shfl_xor_sync(0xffffffff, parts_9, 16);
                const float parts_11 = parts_9 + parts_10;
                before_2 = parts_11 + before_2;
                last = nearest_11 < 32 ? -1 : last - 32;
            }
            if (thr_i == 0) {
                prefix_sum_through[blk_i] = before_2 + total;
                __threadfence();
                prefix_sum_state[blk_i] = 2;
                passed_f32[0] = before_2;
            }
        }
        __syncthreads();  // passed_f32 is filled
        const float passed = passed_f32[0];
        const float carry = S_RM + passed;
        mine = carry + before;
        for (int i_4 = 0; i_4 < 15; ++i_4) {
            const float held = mine;
            const float point_2 = A_SM[thr_i * 15 + i_4];
            const float prefix = held + point_2;
            mine = prefix;
            S_SM[thr_i * 15 + i_4] = prefix;
        }
        S_RM = carry + total;
        __syncthreads();  // S_SM is complete
        for (int m_S_SM_round = 0; m_S_SM_round < 15; ++m_S_SM_round)
            S[blk_i * 3840 + (tid + m_S_SM_round * 256) / 15 * 15 + (tid + m_S_SM_round * 256) % 15] =
                    S_SM[m_S_SM_round * 256 + tid];
    } else {
        // tiles cut by the edge
        // 1: (de-)comp( 3840 ) ( ^ ; ^ ) ( BLK.x )
        __syncthreads();  // S_SM opens
        // 2: (de-)comp( ^ ) ( A:SM[1] ; S:SM[1] ) ( ^ )
        #pragma unroll
        for (int c_A_round_2 = 0; c_A_round_2 < 15; ++c_A_round_2)
            A_SM[c_A_round_2 * 256 + tid] = blk_i * 3840 + (tid + c_A_round_2 * 256) < 10007 ?
                    A[blk_i * 3840 + c_A_round_2 * 256 + tid] : 0.0f;
        // 3: (de-)comp( 15 ) ( ^ ; ^ ) ( THR.x )
        float S_RM;
        S_RM = 0.0f;
        float mine_2 = 0.0f;
        __syncthreads();  // A_SM is filled
        for (int i_4 = 0; i_4 < 15; ++i_4) {
            if (blk_i * 3840 + thr_i * 15 + i_4 < 10007) {
                const float point_3 = A_SM[thr_i * 15 + i_4];
                mine_2 += point_3;
            }
        }
        const int unit_2 = thr_i;
        scan_f320[unit_2] = mine_2;
        __syncthreads();  // scan_f320 is filled
        const float own_9 = scan_f320[unit_2];
        if (unit_2 >= 1)
            scan_f321[unit_2] = scan_f320[unit_2 - 1] + own_9;
        else
            scan_f321[unit_2] = own_9;
        __syncthreads();  // scan_f321 is filled
        const float own_10 = scan_f321[unit_2];
        if (unit_2 >= 2)
            scan_f320[unit_2] = scan_f321[unit_2 - 2] + own_10;
        else
            scan_f320[unit_2] = own_10;
        __syncthreads();  // scan_f320 is filled
        const float own_11 = scan_f320[unit_2];
        if (unit_2 >= 4)
            scan_f321[unit_2] = scan_f320[unit_2 - 4] + own_11;
        else
            scan_f321[unit_2] = own_11;
        __syncthreads();  // scan_f321 is filled
        const float own_12 = scan_f321[unit_2];
        if (unit_2 >= 8)
            scan_f320[unit_2] = scan_f321[unit_2 - 8] + own_12;
        else
            scan_f320[unit_2] = own_12;
        __syncthreads();  // scan_f320 is filled
        const float own_13 = scan_f320[unit_2];
        if (unit_2 >= 16)
            scan_f321[unit_2] = scan_f320[unit_2 - 16] + own_13;
        else
            scan_f321[unit_2] = own_13;
        __syncthreads();  // scan_f321 is filled
        const float own_14 = scan_f321[unit_2];
        if (unit_2 >= 32)
            scan_f320[unit_2] = scan_f321[unit_2 - 32] + own_14;
        else
            scan_f320[unit_2] = own_14;
        __syncthreads();  // scan_f320 is filled
        const float own_15 = scan_f320[unit_2];
        if (unit_2 >= 64)
            scan_f321[unit_2] = scan_f320[unit_2 - 64] + own_15;
        else
            scan_f321[unit_2] = own_15;
        __syncthreads();  // scan_f321 is filled
        const float own_16 = scan_f321[unit_2];
        if (unit_2 >= 128)
            scan_f320[unit_2] = scan_f321[unit_2 - 128] + own_16;
        else
            scan_f320[unit_2] = own_16;
        __syncthreads();  // scan_f320 is filled
        const float before_3 = unit_2 > 0 ? scan_f320[unit_2 - 1] : 0.0f;
        const float total_2 = scan_f320[255];
        if (thr_i == 0) {
            prefix_sum_total[blk_i] = total_2;
            __threadfence();
            prefix_sum_state[blk_i] = 1;
        }
        if (thr_i < 32) {
            float before_4 = 0.0f;
            int last_2 = blk_i - 1;
            while (last_2 >= 0) {
                const int j_2 = last_2 - thr_i;
                int state_2 = 2;
                float value_2 = 0.0f;
                if (j_2 >= 0) {
                    while (*(volatile const int *)&prefix_sum_state[j_2] == 0) {}
                    state_2 = *(volatile const int *)&prefix_sum_state[j_2];
                    __threadfence();
                    if (state_2 == 2)
                        value_2 = *(volatile const float *)&prefix_sum_through[j_2];
                    else
                        value_2 = *(volatile const float *)&prefix_sum_total[j_2];
                }
                const int nearest_12 = state_2 == 2 ? thr_i : 32;
                const int nearest_13 = __shfl_xor_sync(0xffffffff, nearest_12, 1);
                const int nearest_14 = min(nearest_12, nearest_13);
                const int nearest_15 = __shfl_xor_sync(0xffffffff, nearest_14, 2);
                const int nearest_16 = min(nearest_14, nearest_15);
                const int nearest_17 = __shfl_xor_sync(0xffffffff, nearest_16, 4);
                const int nearest_18 = min(nearest_16, nearest_17);
                const int nearest_19 = __shfl_xor_sync(0xffffffff, nearest_18, 8);
                const int nearest_20 = min(nearest_18, nearest_19);
                const int nearest_21 = __shfl_xor_sync(0xffffffff, nearest_20, 16);
                const int nearest_22 = min(nearest_20, nearest_21);
                if (thr_i > nearest_22)
                    value_2 = 0.0f;
                const float parts_12 = value_2;
                const float parts_13 = __shfl_xor_sync(0xffffffff, parts_12, 1);
                const float parts_14 = parts_12 + parts_13;
                const float parts_15 = __shfl_xor_sync(0xffffffff, parts_14, 2);
                const float parts_16 = parts_14 + parts_15;
                const float parts_17 = __shfl_xor_sync(0xffffffff, parts_16, 4);
                const float parts_18 = parts_16 + parts_17;
                const float parts_19 = __shfl_xor_sync(0xffffffff, parts_18, 8);
                const float parts_20 = parts_18 + parts_19;
                const float parts_21 = __shfl_xor_sync(0xffffffff, parts_20, 16);
                const float parts_22 = parts_20 + parts_21;
                before_4 = parts_22 + before_4;
                last_2 = nearest_22 < 32 ? -1 : last_2 - 32;
            }
            if (thr_i == 0) {
                prefix_sum_through[blk_i] = before_4 + total_2;
                __threadfence();
                prefix_sum_state[blk_i] = 2;
                passed_f32[0] = before_4;
            }
        }
        __syncthreads();  // passed_f32 is filled
        const float passed_2 = passed_f32[0];
        const float carry_2 = S_RM + passed_2;
        mine_2 = carry_2 + before_3;
        for (int i_4 = 0; i_4 < 15; ++i_4) {
            if (blk_i * 3840 + thr_i * 15 + i_4 < 10007) {
                const float held_2 = mine_2;
                const float point_4 = A_SM[thr_i * 15 + i_4];
                const float prefix_2 = held_2 + point_4;
                mine_2 = prefix_2;
                S_SM[thr_i * 15 + i_4] = prefix_2;
            }
        }
        S_RM = carry_2 + total_2;
        __syncthreads();  // S_SM is complete
        for (int m_S_SM_round_2 = 0; m_S_SM_round_2 < 15; ++m_S_SM_round_2) {
            if (blk_i * 3840 + (tid + m_S_SM_round_2 * 256) / 15 * 15 + (tid +
                    m_S_SM_round_2 * 256) % 15 < 10007)
                S[blk_i * 3840 + (tid + m_S_SM_round_2 * 256) / 15 * 15 + (tid +
                        m_S_SM_round_2 * 256) % 15] = S_SM[m_S_SM_round_2 * 256 + tid];
        }
    }
}
