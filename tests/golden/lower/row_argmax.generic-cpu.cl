__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void row_argmax_kernel(__global const float *restrict A, __global float *restrict best,
        __global int *restrict place)
{
    const int blk_i = get_group_id(0);
    // 1: (de-)comp( 1, ^ ) ( ^ ; ^, ^ ) ( BLK.x, ^ )
    float best_RM = -INFINITY;
    int best_RM_pos = 2147483647;
    int best_RM_value1 = 0;
    for (int j_2 = 0; j_2 < 101; ++j_2) {
        const float v_best_RM = A[(long)blk_i * 101 + j_2];
        const int v_best_RM1 = j_2;
        const int v_best_RM2 = j_2;
        const float h_best_RM = best_RM;
        const int h_best_RM1 = best_RM_pos;
        const int h_best_RM2 = best_RM_value1;
        best_RM = v_best_RM > h_best_RM || (v_best_RM == h_best_RM && v_best_RM1 < h_best_RM1) ? v_best_RM :
                h_best_RM;
        best_RM_pos = v_best_RM > h_best_RM || (v_best_RM == h_best_RM && v_best_RM1 < h_best_RM1) ?
                v_best_RM1 : h_best_RM1;
        best_RM_value1 = v_best_RM > h_best_RM || (v_best_RM == h_best_RM && v_best_RM1 < h_best_RM1) ?
                v_best_RM2 : h_best_RM2;
    }
    const float part = best_RM;
    const int part_2 = best_RM_pos;
    const int part_3 = best_RM_value1;
    best[blk_i] = part > -INFINITY || (part == -INFINITY && part_2 < -1) ? part : -INFINITY;
    place[blk_i] = part > -INFINITY || (part == -INFINITY && part_2 < -1) ? part_3 : -1;
}
