__kernel __attribute__((reqd_work_group_size(32, 8, 1)))
void softmax_top(__global const float *restrict A, __global float *restrict softmax_top_part)
{
    __local __attribute__((aligned(16))) float meet_f32[256];
    const int thr_i = get_local_id(1);
    const int thr_j = get_local_id(0);
    const int blk_i = get_group_id(0);
    const int blk_j = get_group_id(1);
    if (blk_i < 1 && blk_j < 1) {
        // whole tiles
        // 1: (de-)comp( 8, 64 ) ( ^ ; ^ ) ( BLK.x, BLK.y )
        float top_RM = -INFINITY;
        for (int j_2 = 0; j_2 < 2; ++j_2) {
            // 2: (de-)comp( ^, 32 ) ( ^ ; ^ ) ( ^, ^ )
            // 3: (de-)comp( 1, 1 ) ( ^ ; ^ ) ( THR.y, THR.x )
            const float v_top_RM = A[blk_i * 808 + thr_i * 101 + blk_j * 64 + j_2 * 32 + thr_j];
            top_RM = fmax(top_RM, v_top_RM);
        }
        const int unit = thr_j;
        meet_f32[unit * 8 + thr_i] = top_RM;
        barrier(CLK_LOCAL_MEM_FENCE);  // meet_f32 is filled
        if (unit < 16) {
            const float mine = meet_f32[unit * 8 + thr_i];
            const float theirs = meet_f32[unit * 8 + thr_i + 128];
            meet_f32[unit * 8 + thr_i] = fmax(mine, theirs);
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // meet_f32 is filled
        if (unit < 8) {
            const float mine_2 = meet_f32[unit * 8 + thr_i];
            const float theirs_2 = meet_f32[unit * 8 + thr_i + 64];
            meet_f32[unit * 8 + thr_i] = fmax(mine_2, theirs_2);
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // meet_f32 is filled
        if (unit < 4) {
            const float mine_3 = meet_f32[unit * 8 + thr_i];
            const float theirs_3 = meet_f32[unit * 8 + thr_i + 32];
            meet_f32[unit * 8 + thr_i] = fmax(mine_3, theirs_3);
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // meet_f32 is filled
        if (unit < 2) {
            const float mine_4 = meet_f32[unit * 8 + thr_i];
            const float theirs_4 = meet_f32[unit * 8 + thr_i + 16];
            meet_f32[unit * 8 + thr_i] = fmax(mine_4, theirs_4);
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // meet_f32 is filled
        if (unit < 1) {
            const float mine_5 = meet_f32[unit * 8 + thr_i];
            const float theirs_5 = meet_f32[unit * 8 + thr_i + 8];
            meet_f32[unit * 8 + thr_i] = fmax(mine_5, theirs_5);
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // meet_f32 is filled
        const float whole = meet_f32[thr_i];
        if (thr_j == 0)
            softmax_top_part[blk_j * 13 + blk_i * 8 + thr_i] = whole;
    } else {
        // tiles cut by the edge
        // 1: (de-)comp( 8, 64 ) ( ^ ; ^ ) ( BLK.x, BLK.y )
        float top_RM = -INFINITY;
        for (int j_2 = 0; j_2 < 2; ++j_2) {
            // 2: (de-)comp( ^, 32 ) ( ^ ; ^ ) ( ^, ^ )
            // 3: (de-)comp( 1, 1 ) ( ^ ; ^ ) ( THR.y, THR.x )
            if (blk_i * 8 + thr_i < 13 && blk_j * 64 + j_2 * 32 + thr_j < 101) {
                const float v_top_RM_2 = A[blk_i * 808 + thr_i * 101 + blk_j * 64 + j_2 * 32 + thr_j];
                top_RM = fmax(top_RM, v_top_RM_2);
            }
        }
        const int unit_2 = thr_j;
        meet_f32[unit_2 * 8 + thr_i] = top_RM;
        barrier(CLK_LOCAL_MEM_FENCE);  // meet_f32 is filled
        if (unit_2 < 16) {
            const float mine_6 = meet_f32[unit_2 * 8 + thr_i];
            const float theirs_6 = meet_f32[unit_2 * 8 + thr_i + 128];
            meet_f32[unit_2 * 8 + thr_i] = fmax(mine_6, theirs_6);
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // meet_f32 is filled
        if (unit_2 < 8) {
            const float mine_7 = meet_f32[unit_2 * 8 + thr_i];
            const float theirs_7 = meet_f32[unit_2 * 8 + thr_i + 64];
            meet_f32[unit_2 * 8 + thr_i] = fmax(mine_7, theirs_7);
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // meet_f32 is filled
        if (unit_2 < 4) {
            const float mine_8 = meet_f32[unit_2 * 8 + thr_i];
            const float theirs_8 = meet_f32[unit_2 * 8 + thr_i + 32];
            meet_f32[unit_2 * 8 + thr_i] = fmax(mine_8, theirs_8);
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // meet_f32 is filled
        if (unit_2 < 2) {
            const float mine_9 = meet_f32[unit_2 * 8 + thr_i];
            const float theirs_9 = meet_f32[unit_2 * 8 + thr_i + 16];
            meet_f32[unit_2 * 8 + thr_i] = fmax(mine_9, theirs_9);
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // meet_f32 is filled
        if (unit_2 < 1) {
            const float mine_10 = meet_f32[unit_2 * 8 + thr_i];
            const float theirs_10 = meet_f32[unit_2 * 8 + thr_i + 8];
            meet_f32[unit_2 * 8 + thr_i] = fmax(mine_10, theirs_10);
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // meet_f32 is filled
        const float whole_2 = meet_f32[thr_i];
        if (thr_j == 0 && blk_i * 8 + thr_i < 13)
            softmax_top_part[blk_j * 13 + blk_i * 8 + thr_i] = whole_2;
    }
}

__kernel __attribute__((reqd_work_group_size(13, 2, 1)))
void softmax_top_combine(__global float *restrict top, __global const float *restrict softmax_top_part)
{
    __local __attribute__((aligned(16))) float meet_f32[26];
    const int thr_i = get_local_id(0);
    const int thr_part = get_local_id(1);
    float top_RM = -INFINITY;
    const float v_top_RM = softmax_top_part[thr_part * 13 + thr_i];
    top_RM = fmax(top_RM, v_top_RM);
    const int unit = thr_part;
    meet_f32[unit * 13 + thr_i] = top_RM;
    barrier(CLK_LOCAL_MEM_FENCE);  // meet_f32 is filled
    if (unit < 1) {
        const float mine = meet_f32[unit * 13 + thr_i];
        const float theirs = meet_f32[unit * 13 + thr_i + 13];
        meet_f32[unit * 13 + thr_i] = fmax(mine, theirs);
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // meet_f32 is filled
    const float whole = meet_f32[thr_i];
    if (thr_part == 0)
        top[thr_i] = whole;
}

__kernel __attribute__((reqd_work_group_size(32, 8, 1)))
void softmax_total(__global const float *restrict A, __global const float *restrict top,
        __global float *restrict softmax_total_part)
{
    __local __attribute__((aligned(16))) float meet_f32[256];
    const int thr_i = get_local_id(1);
    const int thr_j = get_local_id(0);
    const int blk_i = get_group_id(0);
    const int blk_j = get_group_id(1);
    if (blk_i < 1 && blk_j < 1) {
        // whole tiles
        // 1: (de-)comp( 8, 64 ) ( ^, ^ ; ^ ) ( BLK.x, BLK.y )
        float total_RM = 0.0f;
        for (int j_2 = 0; j_2 < 2; ++j_2) {
            // 2: (de-)comp( ^, 32 ) ( ^, ^ ; ^ ) ( ^, ^ )
            // 3: (de-)comp( 1, 1 ) ( ^, ^ ; ^ ) ( THR.y, THR.x )
            total_RM += exp(A[blk_i * 808 + thr_i * 101 + blk_j * 64 + j_2 * 32 + thr_j] - top[blk_i * 8 +
                    thr_i]);
        }
        const int unit = thr_j;
        meet_f32[unit * 8 + thr_i] = total_RM;
        barrier(CLK_LOCAL_MEM_FENCE);  // meet_f32 is filled
        if (unit < 16) {
            const float mine = meet_f32[unit * 8 + thr_i];
            const float theirs = meet_f32[unit * 8 + thr_i + 128];
            meet_f32[unit * 8 + thr_i] = mine + theirs;
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // meet_f32 is filled
        if (unit < 8) {
            const float mine_2 = meet_f32[unit * 8 + thr_i];
            const float theirs_2 = meet_f32[unit * 8 + thr_i + 64];
            meet_f32[unit * 8 + thr_i] = mine_2 + theirs_2;
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // meet_f32 is filled
        if (unit < 4) {
            const float mine_3 = meet_f32[unit * 8 + thr_i];
            const float theirs_3 = meet_f32[unit * 8 + thr_i + 32];
            meet_f32[unit * 8 + thr_i] = mine_3 + theirs_3;
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // meet_f32 is filled
        if (unit < 2) {
            const float mine_4 = meet_f32[unit * 8 + thr_i];
            const float theirs_4 = meet_f32[unit * 8 + thr_i + 16];
            meet_f32[unit * 8 + thr_i] = mine_4 + theirs_4;
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // meet_f32 is filled
        if (unit < 1) {
            const float mine_5 = meet_f32[unit * 8 + thr_i];
            const float theirs_5 = meet_f32[unit * 8 + thr_i + 8];
            meet_f32[unit * 8 + thr_i] = mine_5 + theirs_5;
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // meet_f32 is filled
        const float whole = meet_f32[thr_i];
        if (thr_j == 0)
            softmax_total_part[blk_j * 13 + blk_i * 8 + thr_i] = whole;
    } else {
        // tiles cut by the edge
        // 1: (de-)comp( 8, 64 ) ( ^, ^ ; ^ ) ( BLK.x, BLK.y )
        float total_RM = 0.0f;
        for (int j_2 = 0; j_2 < 2; ++j_2) {
            // 2: (de-)comp( ^, 32 ) ( ^, ^ ; ^ ) ( ^, ^ )
            // 3: (de-)comp( 1, 1 ) ( ^, ^ ; ^ ) ( THR.y, THR.x )
            if (blk_i * 8 + thr_i < 13 && blk_j * 64 + j_2 * 32 + thr_j < 101)
                total_RM += exp(A[blk_i * 808 + thr_i * 101 + blk_j * 64 + j_2 * 32 +
                        thr_j] - top[blk_i * 8 + thr_i]);
        }
        const int unit_2 = thr_j;
        meet_f32[unit_2 * 8 + thr_i] = total_RM;
        barrier(CLK_LOCAL_MEM_FENCE);  // meet_f32 is filled
        if (unit_2 < 16) {
            const float mine_6 = meet_f32[unit_2 * 8 + thr_i];
            const float theirs_6 = meet_f32[unit_2 * 8 + thr_i + 128];
            meet_f32[unit_2 * 8 + thr_i] = mine_6 + theirs_6;
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // meet_f32 is filled
        if (unit_2 < 8) {
            const float mine_7 = meet_f32[unit_2 * 8 + thr_i];
            const float theirs_7 = meet_f32[unit_2 * 8 + thr_i + 64];
            meet_f32[unit_2 * 8 + thr_i] = mine_7 + theirs_7;
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // meet_f32 is filled
        if (unit_2 < 4) {
            const float mine_8 = meet_f32[unit_2 * 8 + thr_i];
            const float theirs_8 = meet_f32[unit_2 * 8 + thr_i + 32];
            meet_f32[unit_2 * 8 + thr_i] = mine_8 + theirs_8;
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // meet_f32 is filled
        if (unit_2 < 2) {
            const float mine_9 = meet_f32[unit_2 * 8 + thr_i];
            const float theirs_9 = meet_f32[unit_2 * 8 + thr_i + 16];
            meet_f32[unit_2 * 8 + thr_i] = mine_9 + theirs_9;
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // meet_f32 is filled
        if (unit_2 < 1) {
            const float mine_10 = meet_f32[unit_2 * 8 + thr_i];
            const float theirs_10 = meet_f32[unit_2 * 8 + thr_i + 8];
            meet_f32[unit_2 * 8 + thr_i] = mine_10 + theirs_10;
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // meet_f32 is filled
        const float whole_2 = meet_f32[thr_i];
        if (thr_j == 0 && blk_i * 8 + thr_i < 13)
            softmax_total_part[blk_j * 13 + blk_i * 8 + thr_i] = whole_2;
    }
}

__kernel __attribute__((reqd_work_group_size(13, 2, 1)))
void softmax_total_combine(__global float *restrict total, __global const float *restrict softmax_total_part)
{
    __local __attribute__((aligned(16))) float meet_f32[26];
    const int thr_i = get_local_id(0);
    const int thr_part = get_local_id(1);
    float total_RM = 0.0f;
    total_RM += softmax_total_part[thr_part * 13 + thr_i];
    const int unit = thr_part;
    meet_f32[unit * 13 + thr_i] = total_RM;
    barrier(CLK_LOCAL_MEM_FENCE);  // meet_f32 is filled
    if (unit < 1) {
        const float mine = meet_f32[unit * 13 + thr_i];
        const float theirs = meet_f32[unit * 13 + thr_i + 13];
        meet_f32[unit * 13 + thr_i] = mine + theirs;
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // meet_f32 is filled
    const float whole = meet_f32[thr_i];
    if (thr_part == 0)
        total[thr_i] = whole;
}

__kernel __attribute__((reqd_work_group_size(101, 2, 1)))
void softmax_B(__global const float *restrict A, __global float *restrict B,
        __global const float *restrict top, __global const float *restrict total)
{
    const int thr_i = get_local_id(1);
    const int thr_j = get_local_id(0);
    const int blk_i = get_group_id(0);
    if (blk_i < 6) {
        // whole tiles
        // 1: (de-)comp( 2, ^ ) ( ^, ^, ^ ; ^ ) ( BLK.x, ^ )
        // 2: (de-)comp( 1, 1 ) ( ^, ^, ^ ; ^ ) ( THR.y, THR.x )
        B[blk_i * 202 + thr_i * 101 + thr_j] = exp(A[blk_i * 202 + thr_i * 101 + thr_j] - top[blk_i * 2 +
                thr_i]) / total[blk_i * 2 + thr_i];
    } else {
        // tiles cut by the edge
        // 1: (de-)comp( 2, ^ ) ( ^, ^, ^ ; ^ ) ( BLK.x, ^ )
        // 2: (de-)comp( 1, 1 ) ( ^, ^, ^ ; ^ ) ( THR.y, THR.x )
        if (blk_i * 2 + thr_i < 13)
            B[blk_i * 202 + thr_i * 101 + thr_j] = exp(A[blk_i * 202 + thr_i * 101 + thr_j] - top[blk_i * 2 +
                    thr_i]) / total[blk_i * 2 + thr_i];
    }
}
