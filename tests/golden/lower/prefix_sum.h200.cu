extern "C" __global__ void __launch_bounds__(256)
prefix_sum_totals(const float *__restrict__ A, float *__restrict__ prefix_sum_totals_)
{
    __shared__ __align__(16) float A_SM[1024];
    __shared__ __align__(16) float meet_f32[8];
    const int tid = threadIdx.x;
    const int thr_i = threadIdx.x;
    const int blk_i = blockIdx.x;
    if (blk_i < 9) {
        // whole tiles
        // 1: (de-)comp( 1024 ) ( ^ ; ^ ) ( BLK.x )
        // 2: (de-)comp( ^ ) ( A:SM[1] ; ^ ) ( ^ )
        *(float4 *)&A_SM[tid * 4] = *(const float4 *)&A[blk_i * 1024 + tid * 4];
        // 3: (de-)comp( 4 ) ( ^ ; ^ ) ( THR.x )
        float prefix_sum_totals_RM = 0.0f;
        __syncthreads();  // A_SM is filled
        for (int i_4 = 0; i_4 < 4; ++i_4)
            prefix_sum_totals_RM += A_SM[thr_i * 4 + i_4];
        const float part = prefix_sum_totals_RM;
        const float part_2 = part + __shfl_xor_sync(0xffffffff, part, 1);
        const float part_3 = part_2 + __shfl_xor_sync(0xffffffff, part_2, 2);
        const float part_4 = part_3 + __shfl_xor_sync(0xffffffff, part_3, 4);
        const float part_5 = part_4 + __shfl_xor_sync(0xffffffff, part_4, 8);
        const float part_6 = part_5 + __shfl_xor_sync(0xffffffff, part_5, 16);
        const int unit = thr_i / 32;
        if (thr_i % 32 == 0)
            meet_f32[unit] = part_6;
        __syncthreads();  // meet_f32 is filled
        if (thr_i % 32 == 0 && unit < 4) {
            const float mine = meet_f32[unit];
            const float theirs = meet_f32[unit + 4];
            meet_f32[unit] = mine + theirs;
        }
        __syncthreads();  // meet_f32 is filled
        if (thr_i % 32 == 0 && unit < 2) {
            const float mine_2 = meet_f32[unit];
            const float theirs_2 = meet_f32[unit + 2];
            meet_f32[unit] = mine_2 + theirs_2;
        }
        __syncthreads();  // meet_f32 is filled
        if (thr_i % 32 == 0 && unit < 1) {
            const float mine_3 = meet_f32[unit];
            const float theirs_3 = meet_f32[unit + 1];
            meet_f32[unit] = mine_3 + theirs_3;
        }
        __syncthreads();  // meet_f32 is filled
        const float whole = meet_f32[0];
        if (thr_i == 0)
            prefix_sum_totals_[blk_i] = whole;
    } else {
        // tiles cut by the edge
        // 1: (de-)comp( 1024 ) ( ^ ; ^ ) ( BLK.x )
        // 2: (de-)comp( ^ ) ( A:SM[1] ; ^ ) ( ^ )
        #pragma unroll
        for (int c_A_round_2 = 0; c_A_round_2 < 4; ++c_A_round_2)
            A_SM[c_A_round_2 * 256 + tid] = blk_i * 1024 + (tid + c_A_round_2 * 256) < 10007 ?
                    A[blk_i * 1024 + c_A_round_2 * 256 + tid] : 0.0f;
        // 3: (de-)comp( 4 ) ( ^ ; ^ ) ( THR.x )
        float prefix_sum_totals_RM = 0.0f;
        __syncthreads();  // A_SM is filled
        for (int i_4 = 0; i_4 < 4; ++i_4) {
            if (blk_i * 1024 + thr_i * 4 + i_4 < 10007)
                prefix_sum_totals_RM += A_SM[thr_i * 4 + i_4];
        }
        const float part_7 = prefix_sum_totals_RM;
        const float part_8 = part_7 + __shfl_xor_sync(0xffffffff, part_7, 1);
        const float part_9 = part_8 + __shfl_xor_sync(0xffffffff, part_8, 2);
        const float part_10 = part_9 + __shfl_xor_sync(0xffffffff, part_9, 4);
        const float part_11 = part_10 + __shfl_xor_sync(0xffffffff, part_10, 8);
        const float part_12 = part_11 + __shfl_xor_sync(0xffffffff, part_11, 16);
        const int unit_2 = thr_i / 32;
        if (thr_i % 32 == 0)
            meet_f32[unit_2] = part_12;
        __syncthreads();  // meet_f32 is filled
        if (thr_i % 32 == 0 && unit_2 < 4) {
            const float mine_4 = meet_f32[unit_2];
            const float theirs_4 = meet_f32[unit_2 + 4];
            meet_f32[unit_2] = mine_4 + theirs_4;
        }
        __syncthreads();  // meet_f32 is filled
        if (thr_i % 32 == 0 && unit_2 < 2) {
            const float mine_5 = meet_f32[unit_2];
            const float theirs_5 = meet_f32[unit_2 + 2];
            meet_f32[unit_2] = mine_5 + theirs_5;
        }
        __syncthreads();  // meet_f32 is filled
        if (thr_i % 32 == 0 && unit_2 < 1) {
            const float mine_6 = meet_f32[unit_2];
            const float theirs_6 = meet_f32[unit_2 + 1];
            meet_f32[unit_2] = mine_6 + theirs_6;
        }
        __syncthreads();  // meet_f32 is filled
        const float whole_2 = meet_f32[0];
        if (thr_i == 0)
            prefix_sum_totals_[blk_i] = whole_2;
    }
}

extern "C" __global__ void __launch_bounds__(10)
prefix_sum_prefix(const float *__restrict__ prefix_sum_totals_, float *__restrict__ prefix_sum_prefix_)
{
    __shared__ __align__(16) float scan_f320[10];
    __shared__ __align__(16) float scan_f321[10];
    const int thr_part = threadIdx.x;
    float prefix_sum_prefix_RM_2;
    prefix_sum_prefix_RM_2 = 0.0f;
    float mine = 0.0f;
    const float point = prefix_sum_totals_[thr_part];
    mine += point;
    const int unit = thr_part;
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
    const float before = unit > 0 ? scan_f320[unit - 1] : 0.0f;
    const float total = scan_f320[9];
    const float carry = prefix_sum_prefix_RM_2;
    mine = carry + before;
    const float held = mine;
    const float point_2 = prefix_sum_totals_[thr_part];
    const float prefix = held + point_2;
    mine = prefix;
    prefix_sum_prefix_[thr_part] = held;
    prefix_sum_prefix_RM_2 = carry + total;
}

extern "C" __global__ void __launch_bounds__(256)
prefix_sum_kernel(const float *__restrict__ A, float *__restrict__ S,
        const float *__restrict__ prefix_sum_prefix_)
{
    __shared__ __align__(16) float A_SM[1024];
    __shared__ __align__(16) float scan_f320[256];
    __shared__ __align__(16) float scan_f321[256];
    const int tid = threadIdx.x;
    const int thr_i = threadIdx.x;
    const int blk_i = blockIdx.x;
    if (blk_i < 9) {
        // whole tiles
        // 1: (de-)comp( 1024 ) ( ^ ; ^ ) ( BLK.x )
        // 2: (de-)comp( ^ ) ( A:SM[1] ; ^ ) ( ^ )
        *(float4 *)&A_SM[tid * 4] = *(const float4 *)&A[blk_i * 1024 + tid * 4];
        // 3: (de-)comp( 4 ) ( ^ ; ^ ) ( THR.x )
        float S_RM_2;
        S_RM_2 = prefix_sum_prefix_[blk_i];
        float mine = 0.0f;
        __syncthreads();  // A_SM is filled
        for (int i_4 = 0; i_4 < 4; ++i_4) {
            const float point = A_SM[thr_i * 4 + i_4];
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
        const float carry = S_RM_2;
        mine = carry + before;
        for (int i_4 = 0; i_4 < 4; ++i_4) {
            const float held = mine;
            const float point_2 = A_SM[thr_i * 4 + i_4];
            const float prefix = held + point_2;
            mine = prefix;
            S[blk_i * 1024 + thr_i * 4 + i_4] = prefix;
        }
        S_RM_2 = carry + total;
    } else {
        // tiles cut by the edge
        // 1: (de-)comp( 1024 ) ( ^ ; ^ ) ( BLK.x )
        // 2: (de-)comp( ^ ) ( A:SM[1] ; ^ ) ( ^ )
        #pragma unroll
        for (int c_A_round_2 = 0; c_A_round_2 < 4; ++c_A_round_2)
            A_SM[c_A_round_2 * 256 + tid] = blk_i * 1024 + (tid + c_A_round_2 * 256) < 10007 ?
                    A[blk_i * 1024 + c_A_round_2 * 256 + tid] : 0.0f;
        // 3: (de-)comp( 4 ) ( ^ ; ^ ) ( THR.x )
        float S_RM_2;
        S_RM_2 = prefix_sum_prefix_[blk_i];
        float mine_2 = 0.0f;
        __syncthreads();  // A_SM is filled
        for (int i_4 = 0; i_4 < 4; ++i_4) {
            if (blk_i * 1024 + thr_i * 4 + i_4 < 10007) {
                const float point_3 = A_SM[thr_i * 4 + i_4];
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
        const float before_2 = unit_2 > 0 ? scan_f320[unit_2 - 1] : 0.0f;
        const float total_2 = scan_f320[255];
        const float carry_2 = S_RM_2;
        mine_2 = carry_2 + before_2;
        for (int i_4 = 0; i_4 < 4; ++i_4) {
            if (blk_i * 1024 + thr_i * 4 + i_4 < 10007) {
                const float held_2 = mine_2;
                const float point_4 = A_SM[thr_i * 4 + i_4];
                const float prefix_2 = held_2 + point_4;
                mine_2 = prefix_2;
                S[blk_i * 1024 + thr_i * 4 + i_4] = prefix_2;
            }
        }
        S_RM_2 = carry_2 + total_2;
    }
}
