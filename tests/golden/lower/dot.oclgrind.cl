__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void dot_kernel(__global const float *restrict A, __global const float *restrict B,
        __global float *restrict dot_part)
{
    __local __attribute__((aligned(16))) float meet_f32[256];
    const int thr_k = get_local_id(0);
    const int blk_k = get_group_id(0);
    if (blk_k < 3) {
        // whole tiles
        // 1: (de-)comp( 2560 ) ( ^, ^ ; ^ ) ( BLK.x )
        float C_RM = 0.0f;
        for (int k_2 = 0; k_2 < 10; ++k_2) {
            // 2: (de-)comp( 256 ) ( ^, ^ ; ^ ) ( ^ )
            // 3: (de-)comp( 1 ) ( ^, ^ ; ^ ) ( THR.x )
            C_RM += A[blk_k * 2560 + k_2 * 256 + thr_k] * B[blk_k * 2560 + k_2 * 256 + thr_k];
        }
        const int unit = thr_k;
        meet_f32[unit] = C_RM;
        barrier(CLK_LOCAL_MEM_FENCE);  // meet_f32 is filled
        if (unit < 128) {
            const float mine = meet_f32[unit];
            const float theirs = meet_f32[unit + 128];
            meet_f32[unit] = mine + theirs;
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // meet_f32 is filled
        if (unit < 64) {
            const float mine_2 = meet_f32[unit];
            const float theirs_2 = meet_f32[unit + 64];
            meet_f32[unit] = mine_2 + theirs_2;
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // meet_f32 is filled
        if (unit < 32) {
            const float mine_3 = meet_f32[unit];
            const float theirs_3 = meet_f32[unit + 32];
            meet_f32[unit] = mine_3 + theirs_3;
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // meet_f32 is filled
        if (unit < 16) {
            const float mine_4 = meet_f32[unit];
            const float theirs_4 = meet_f32[unit + 16];
            meet_f32[unit] = mine_4 + theirs_4;
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // meet_f32 is filled
        if (unit < 8) {
            const float mine_5 = meet_f32[unit];
            const float theirs_5 = meet_f32[unit + 8];
            meet_f32[unit] = mine_5 + theirs_5;
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // meet_f32 is filled
        if (unit < 4) {
            const float mine_6 = meet_f32[unit];
            const float theirs_6 = meet_f32[unit + 4];
            meet_f32[unit] = mine_6 + theirs_6;
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // meet_f32 is filled
        if (unit < 2) {
            const float mine_7 = meet_f32[unit];
            const float theirs_7 = meet_f32[unit + 2];
            meet_f32[unit] = mine_7 + theirs_7;
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // meet_f32 is filled
        if (unit < 1) {
            const float mine_8 = meet_f32[unit];
            const float theirs_8 = meet_f32[unit + 1];
            meet_f32[unit] = mine_8 + theirs_8;
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // meet_f32 is filled
        const float whole = meet_f32[0];
        if (thr_k == 0)
            dot_part[blk_k] = whole;
    } else {
        // tiles cut by the edge
        // 1: (de-)comp( 2560 ) ( ^, ^ ; ^ ) ( BLK.x )
        float C_RM = 0.0f;
        for (int k_2 = 0; k_2 < 10; ++k_2) {
            // 2: (de-)comp( 256 ) ( ^, ^ ; ^ ) ( ^ )
            // 3: (de-)comp( 1 ) ( ^, ^ ; ^ ) ( THR.x )
            if (blk_k * 2560 + k_2 * 256 + thr_k < 10007)
                C_RM += A[blk_k * 2560 + k_2 * 256 + thr_k] * B[blk_k * 2560 + k_2 * 256 + thr_k];
        }
        const int unit_2 = thr_k;
        meet_f32[unit_2] = C_RM;
        barrier(CLK_LOCAL_MEM_FENCE);  // meet_f32 is filled
        if (unit_2 < 128) {
            const float mine_9 = meet_f32[unit_2];
            const float theirs_9 = meet_f32[unit_2 + 128];
            meet_f32[unit_2] = mine_9 + theirs_9;
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // meet_f32 is filled
        if (unit_2 < 64) {
            const float mine_10 = meet_f32[unit_2];
            const float theirs_10 = meet_f32[unit_2 + 64];
            meet_f32[unit_2] = mine_10 + theirs_10;
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // meet_f32 is filled
        if (unit_2 < 32) {
            const float mine_11 = meet_f32[unit_2];
            const float theirs_11 = meet_f32[unit_2 + 32];
            meet_f32[unit_2] = mine_11 + theirs_11;
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // meet_f32 is filled
        if (unit_2 < 16) {
            const float mine_12 = meet_f32[unit_2];
            const float theirs_12 = meet_f32[unit_2 + 16];
            meet_f32[unit_2] = mine_12 + theirs_12;
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // meet_f32 is filled
        if (unit_2 < 8) {
            const float mine_13 = meet_f32[unit_2];
            const float theirs_13 = meet_f32[unit_2 + 8];
            meet_f32[unit_2] = mine_13 + theirs_13;
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // meet_f32 is filled
        if (unit_2 < 4) {
            const float mine_14 = meet_f32[unit_2];
            const float theirs_14 = meet_f32[unit_2 + 4];
            meet_f32[unit_2] = mine_14 + theirs_14;
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // meet_f32 is filled
        if (unit_2 < 2) {
            const float mine_15 = meet_f32[unit_2];
            const float theirs_15 = meet_f32[unit_2 + 2];
            meet_f32[unit_2] = mine_15 + theirs_15;
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // meet_f32 is filled
        if (unit_2 < 1) {
            const float mine_16 = meet_f32[unit_2];
            const float theirs_16 = meet_f32[unit_2 + 1];
            meet_f32[unit_2] = mine_16 + theirs_16;
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // meet_f32 is filled
        const float whole_2 = meet_f32[0];
        if (thr_k == 0)
            dot_part[blk_k] = whole_2;
    }
}

__kernel __attribute__((reqd_work_group_size(4, 1, 1)))
void dot_combine(__global float *restrict C, __global const float *restrict dot_part)
{
    __local __attribute__((aligned(16))) float meet_f32[4];
    const int thr_part = get_local_id(0);
    float C_RM = 0.0f;
    C_RM += dot_part[thr_part];
    const int unit = thr_part;
    meet_f32[unit] = C_RM;
    barrier(CLK_LOCAL_MEM_FENCE);  // meet_f32 is filled
    if (unit < 2) {
        const float mine = meet_f32[unit];
        const float theirs = meet_f32[unit + 2];
        meet_f32[unit] = mine + theirs;
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // meet_f32 is filled
    if (unit < 1) {
        const float mine_2 = meet_f32[unit];
        const float theirs_2 = meet_f32[unit + 1];
        meet_f32[unit] = mine_2 + theirs_2;
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // meet_f32 is filled
    const float whole = meet_f32[0];
    if (thr_part == 0)
        C[0] = whole;
}
