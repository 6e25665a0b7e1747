__device__ __forceinline__ unsigned long long packed_f32(int number, float value)
{
    return (unsigned long long)number << 32 | __float_as_uint(value);
}

__device__ __forceinline__ float unpacked_f32(unsigned long long word)
{
    return __uint_as_float((unsigned int)word);
}

__device__ __forceinline__ int first_lane(bool here)
{
    const unsigned int lanes = __ballot_sync(0xffffffff, here);
    return lanes ? __ffs(lanes) - 1 : 32;
}

extern "C" __global__ void __launch_bounds__(256)
prefix_sum_kernel(const float *__restrict__ A, float *__restrict__ S, int *__restrict__ prefix_sum_tickets,
        unsigned long long *prefix_sum_passed)
{
    __shared__ __align__(16) float A_SM[3840];
    __shared__ __align__(16) float warps_f32[8];
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
        float kept[15];
        __syncthreads();  // A_SM is filled
        #pragma unroll
        for (int i_4 = 0; i_4 < 15; ++i_4) {
            const float point = A_SM[thr_i * 15 + i_4];
            const float prefix = mine + point;
            kept[i_4] = prefix;
            mine = prefix;
        }
        const int lane = tid % 32;
        const float part = mine;
        const float earlier = __shfl_up_sync(0xffffffff, part, 1);
        const float part_2 = lane >= 1 ? earlier + part : part;
        const float earlier_2 = __shfl_up_sync(0xffffffff, part_2, 2);
        const float part_3 = lane >= 2 ? earlier_2 + part_2 : part_2;
        const float earlier_3 = __shfl_up_sync(0xffffffff, part_3, 4);
        const float part_4 = lane >= 4 ? earlier_3 + part_3 : part_3;
        const float earlier_4 = __shfl_up_sync(0xffffffff, part_4, 8);
        const float part_5 = lane >= 8 ? earlier_4 + part_4 : part_4;
        const float earlier_5 = __shfl_up_sync(0xffffffff, part_5, 16);
        const float part_6 = lane >= 16 ? earlier_5 + part_5 : part_5;
        const float before = __shfl_up_sync(0xffffffff, part_6, 1);
        const float before_2 = lane > 0 ? before : 0.0f;
        const int warp = tid / 32;
        if (lane == 31)
            warps_f32[warp] = part_6;
        __syncthreads();  // warps_f32 is filled
        const float sums = lane < 8 ? warps_f32[lane] : 0.0f;
        const float earlier_6 = __shfl_up_sync(0xffffffff, sums, 1);
        const float part_7 = lane >= 1 ? earlier_6 + sums : sums;
        const float earlier_7 = __shfl_up_sync(0xffffffff, part_7, 2);
        const float part_8 = lane >= 2 ? earlier_7 + part_7 : part_7;
        const float earlier_8 = __shfl_up_sync(0xffffffff, part_8, 4);
        const float part_9 = lane >= 4 ? earlier_8 + part_8 : part_8;
        const float total = __shfl_sync(0xffffffff, part_9, 7);
        const float earlier_9 = __shfl_sync(0xffffffff, part_9, warp - 1);
        const float before_3 = warp > 0 ? earlier_9 + before_2 : before_2;
        if (thr_i == 0)
            *(volatile unsigned long long *)&prefix_sum_passed[blk_i] = packed_f32(1, total);
        if (thr_i < 32) {
            float before_4 = 0.0f;
            int last = blk_i - 1;
            while (last >= 0) {
                const int j = last - (unsigned int)thr_i;
                unsigned long long word = packed_f32(2, 0.0f);
                if (j >= 0) {
                    word = *(volatile const unsigned long long *)&prefix_sum_passed[j];
                    while ((int)(word >> 32) == 0)
                        word = *(volatile const unsigned long long *)&prefix_sum_passed[j];
                }
                const float value = unpacked_f32(word);
                const int nearest = first_lane((int)(word >> 32) == 2);
                const float parts = thr_i <= nearest ? value : 0.0f;
                const float parts_2 = __shfl_xor_sync(0xffffffff, parts, 1);
                const float parts_3 = parts_2 + parts;
                const float parts_4 = __shfl_xor_sync(0xffffffff, parts_3, 2);
                const float parts_5 = parts_4 + parts_3;
                const float parts_6 = __shfl_xor_sync(0xffffffff, parts_5, 4);
                const float parts_7 = parts_6 + parts_5;
                const float parts_8 = __shfl_xor_sync(0xffffffff, parts_7, 8);
                const float parts_9 = parts_8 + parts_7;
                const float parts_10 = __shfl_xor_sync(0xffffffff, parts_9, 16);
                const float parts_11 = parts_10 + parts_9;
                before_4 = parts_11 + before_4;
                last = nearest < 32 ? -1 : (int)(last - 32U);
            }
            if (thr_i == 0) {
                *(volatile unsigned long long *)&prefix_sum_passed[blk_i] = packed_f32(2, before_4 + total);
                passed_f32[0] = before_4;
            }
        }
        __syncthreads();  // passed_f32 is filled
        const float passed = passed_f32[0];
        const float carry = S_RM + passed;
        mine = carry + before_3;
        #pragma unroll
        for (int i_4 = 0; i_4 < 15; ++i_4) {
            const float prefix_2 = mine + kept[i_4];
            A_SM[thr_i * 15 + i_4] = prefix_2;
        }
        S_RM = carry + total;
        __syncthreads();  // A_SM is complete
        #pragma unroll
        for (int m_S_SM_round = 0; m_S_SM_round < 4; ++m_S_SM_round) {
            if (m_S_SM_round * 256 + tid < 960)
                *(float4 *)&S[blk_i * 3840 + m_S_SM_round * 1024 + tid * 4] =
                        *(const float4 *)&A_SM[m_S_SM_round * 1024 + tid * 4];
        }
    } else {
        // tiles cut by the edge
        // 1: (de-)comp( 3840 ) ( ^ ; ^ ) ( BLK.x )
        // 2: (de-)comp( ^ ) ( A:SM[1] ; S:SM[1] ) ( ^ )
        #pragma unroll
        for (int c_A_round_2 = 0; c_A_round_2 < 15; ++c_A_round_2)
            A_SM[c_A_round_2 * 256 + tid] = blk_i * 3840 + (tid + c_A_round_2 * 256) < 10007 ?
                    A[blk_i * 3840 + c_A_round_2 * 256 + tid] : 0.0f;
        // 3: (de-)comp( 15 ) ( ^ ; ^ ) ( THR.x )
        float S_RM;
        S_RM = 0.0f;
        float mine_2 = 0.0f;
        float kept_2[15];
        __syncthreads();  // A_SM is filled
        #pragma unroll
        for (int i_4 = 0; i_4 < 15; ++i_4) {
            const float point_2 = A_SM[thr_i * 15 + i_4];
            const float prefix_3 = mine_2 + point_2;
            kept_2[i_4] = prefix_3;
            mine_2 = prefix_3;
        }
        const int lane_2 = tid % 32;
        const float part_10 = mine_2;
        const float earlier_10 = __shfl_up_sync(0xffffffff, part_10, 1);
        const float part_11 = lane_2 >= 1 ? earlier_10 + part_10 : part_10;
        const float earlier_11 = __shfl_up_sync(0xffffffff, part_11, 2);
        const float part_12 = lane_2 >= 2 ? earlier_11 + part_11 : part_11;
        const float earlier_12 = __shfl_up_sync(0xffffffff, part_12, 4);
        const float part_13 = lane_2 >= 4 ? earlier_12 + part_12 : part_12;
        const float earlier_13 = __shfl_up_sync(0xffffffff, part_13, 8);
        const float part_14 = lane_2 >= 8 ? earlier_13 + part_13 : part_13;
        const float earlier_14 = __shfl_up_sync(0xffffffff, part_14, 16);
        const float part_15 = lane_2 >= 16 ? earlier_14 + part_14 : part_14;
        const float before_5 = __shfl_up_sync(0xffffffff, part_15, 1);
        const float before_6 = lane_2 > 0 ? before_5 : 0.0f;
        const int warp_2 = tid / 32;
        if (lane_2 == 31)
            warps_f32[warp_2] = part_15;
        __syncthreads();  // warps_f32 is filled
        const float sums_2 = lane_2 < 8 ? warps_f32[lane_2] : 0.0f;
        const float earlier_15 = __shfl_up_sync(0xffffffff, sums_2, 1);
        const float part_16 = lane_2 >= 1 ? earlier_15 + sums_2 : sums_2;
        const float earlier_16 = __shfl_up_sync(0xffffffff, part_16, 2);
        const float part_17 = lane_2 >= 2 ? earlier_16 + part_16 : part_16;
        const float earlier_17 = __shfl_up_sync(0xffffffff, part_17, 4);
        const float part_18 = lane_2 >= 4 ? earlier_17 + part_17 : part_17;
        const float total_2 = __shfl_sync(0xffffffff, part_18, 7);
        const float earlier_18 = __shfl_sync(0xffffffff, part_18, warp_2 - 1);
        const float before_7 = warp_2 > 0 ? earlier_18 + before_6 : before_6;
        if (thr_i == 0)
            *(volatile unsigned long long *)&prefix_sum_passed[blk_i] = packed_f32(1, total_2);
        if (thr_i < 32) {
            float before_8 = 0.0f;
            int last_2 = blk_i - 1;
            while (last_2 >= 0) {
                const int j_2 = last_2 - (unsigned int)thr_i;
                unsigned long long word_2 = packed_f32(2, 0.0f);
                if (j_2 >= 0) {
                    word_2 = *(volatile const unsigned long long *)&prefix_sum_passed[j_2];
                    while ((int)(word_2 >> 32) == 0)
                        word_2 = *(volatile const unsigned long long *)&prefix_sum_passed[j_2];
                }
                const float value_2 = unpacked_f32(word_2);
                const int nearest_2 = first_lane((int)(word_2 >> 32) == 2);
                const float parts_12 = thr_i <= nearest_2 ? value_2 : 0.0f;
                const float parts_13 = __shfl_xor_sync(0xffffffff, parts_12, 1);
                const float parts_14 = parts_13 + parts_12;
                const float parts_15 = __shfl_xor_sync(0xffffffff, parts_14, 2);
                const float parts_16 = parts_15 + parts_14;
                const float parts_17 = __shfl_xor_sync(0xffffffff, parts_16, 4);
                const float parts_18 = parts_17 + parts_16;
                const float parts_19 = __shfl_xor_sync(0xffffffff, parts_18, 8);
                const float parts_20 = parts_19 + parts_18;
                const float parts_21 = __shfl_xor_sync(0xffffffff, parts_20, 16);
                const float parts_22 = parts_21 + parts_20;
                before_8 = parts_22 + before_8;
                last_2 = nearest_2 < 32 ? -1 : (int)(last_2 - 32U);
            }
            if (thr_i == 0) {
                *(volatile unsigned long long *)&prefix_sum_passed[blk_i] = packed_f32(2, before_8 + total_2);
                passed_f32[0] = before_8;
            }
        }
        __syncthreads();  // passed_f32 is filled
        const float passed_2 = passed_f32[0];
        const float carry_2 = S_RM + passed_2;
        mine_2 = carry_2 + before_7;
        #pragma unroll
        for (int i_4 = 0; i_4 < 15; ++i_4) {
            const float prefix_4 = mine_2 + kept_2[i_4];
            A_SM[thr_i * 15 + i_4] = prefix_4;
        }
        S_RM = carry_2 + total_2;
        __syncthreads();  // A_SM is complete
        for (int m_S_SM_round_2 = 0; m_S_SM_round_2 < 15; ++m_S_SM_round_2) {
            if (blk_i * 3840 + (tid + m_S_SM_round_2 * 256) < 10007)
                S[blk_i * 3840 + m_S_SM_round_2 * 256 + tid] = A_SM[m_S_SM_round_2 * 256 + tid];
        }
    }
}
