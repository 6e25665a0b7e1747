typedef float8 __attribute__((aligned(4))) float8_u;

typedef int8 __attribute__((aligned(4))) int8_u;

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void row_argmax_kernel(__global const float *restrict A, __global float *restrict best,
        __global int *restrict place)
{
    for (int i_1 = 0; i_1 < 13; ++i_1) {
        // 1: (de-)comp( 1, ^ ) ( ^ ; ^, ^ ) ( ^, ^ )
        __attribute__((aligned(16))) float best_RM[8];
        #pragma unroll
        for (int i = 0; i < 8; ++i)
            best_RM[i] = -INFINITY;
        __attribute__((aligned(16))) int best_RM_pos[8];
        #pragma unroll
        for (int i = 0; i < 8; ++i)
            best_RM_pos[i] = 2147483647;
        for (int j_2 = 0; j_2 < 12; ++j_2) {
            // 2: (de-)comp( ^, 8 ) ( ^ ; ^, ^ ) ( ^, ^ )
            // 3: (de-)comp( ^, 1 ) ( ^ ; ^, ^ ) ( ^, VEC.x )
            float8 v_best_RM_v;
            v_best_RM_v = *(__global const float8_u *)&A[(long)i_1 * 101 + j_2 * 8];
            int8 v_best_RM1_v;
            v_best_RM1_v = j_2 * 8 + (int8)(0, 1, 2, 3, 4, 5, 6, 7);
            float8 h_best_RM_v;
            h_best_RM_v = *(const float8_u *)&best_RM[0];
            int8 h_best_RM1_v;
            h_best_RM1_v = *(const int8_u *)&best_RM_pos[0];
            *(float8_u *)&best_RM[0] = v_best_RM_v > h_best_RM_v ? v_best_RM_v : h_best_RM_v;
            *(int8_u *)&best_RM_pos[0] = v_best_RM_v > h_best_RM_v ? v_best_RM1_v : h_best_RM1_v;
        }
        {
            // 2: (de-)comp( ^, 8 ) ( ^ ; ^, ^ ) ( ^, ^ )
            // 3: (de-)comp( ^, 1 ) ( ^ ; ^, ^ ) ( ^, VEC.x )
            #pragma unroll
            for (int vec_j = 0; vec_j < 5; ++vec_j) {
                const float v_best_RM_2 = A[(long)i_1 * 101 + vec_j + 96];
                const int v_best_RM1_2 = vec_j + 96;
                const float h_best_RM_2 = best_RM[vec_j];
                const int h_best_RM1_2 = best_RM_pos[vec_j];
                best_RM[vec_j] = v_best_RM_2 > h_best_RM_2 ? v_best_RM_2 : h_best_RM_2;
                best_RM_pos[vec_j] = v_best_RM_2 > h_best_RM_2 ? v_best_RM1_2 : h_best_RM1_2;
            }
        }
        __attribute__((aligned(16))) float best_RM_lanes[8];
        *(float8_u *)&best_RM_lanes[0] = *(const float8_u *)&best_RM[0];
        __attribute__((aligned(16))) int best_RM_pos_lanes[8];
        *(int8_u *)&best_RM_pos_lanes[0] = *(const int8_u *)&best_RM_pos[0];
        const float sum = best_RM_lanes[1] > best_RM_lanes[0] || (best_RM_lanes[1] == best_RM_lanes[0] &&
                best_RM_pos_lanes[1] < best_RM_pos_lanes[0]) ? best_RM_lanes[1] : best_RM_lanes[0];
        const int sum_2 = best_RM_lanes[1] > best_RM_lanes[0] || (best_RM_lanes[1] == best_RM_lanes[0] &&
                best_RM_pos_lanes[1] < best_RM_pos_lanes[0]) ? best_RM_pos_lanes[1] : best_RM_pos_lanes[0];
        const float sum_3 = best_RM_lanes[3] > best_RM_lanes[2] || (best_RM_lanes[3] == best_RM_lanes[2] &&
                best_RM_pos_lanes[3] < best_RM_pos_lanes[2]) ? best_RM_lanes[3] : best_RM_lanes[2];
        const int sum_4 = best_RM_lanes[3] > best_RM_lanes[2] || (best_RM_lanes[3] == best_RM_lanes[2] &&
                best_RM_pos_lanes[3] < best_RM_pos_lanes[2]) ? best_RM_pos_lanes[3] : best_RM_pos_lanes[2];
        const float sum_5 = best_RM_lanes[5] > best_RM_lanes[4] || (best_RM_lanes[5] == best_RM_lanes[4] &&
                best_RM_pos_lanes[5] < best_RM_pos_lanes[4]) ? best_RM_lanes[5] : best_RM_lanes[4];
        const int sum_6 = best_RM_lanes[5] > best_RM_lanes[4] || (best_RM_lanes[5] == best_RM_lanes[4] &&
                best_RM_pos_lanes[5] < best_RM_pos_lanes[4]) ? best_RM_pos_lanes[5] : best_RM_pos_lanes[4];
        const float sum_7 = best_RM_lanes[7] > best_RM_lanes[6] || (best_RM_lanes[7] == best_RM_lanes[6] &&
                best_RM_pos_lanes[7] < best_RM_pos_lanes[6]) ? best_RM_lanes[7] : best_RM_lanes[6];
        const int sum_8 = best_RM_lanes[7] > best_RM_lanes[6] || (best_RM_lanes[7] == best_RM_lanes[6] &&
                best_RM_pos_lanes[7] < best_RM_pos_lanes[6]) ? best_RM_pos_lanes[7] : best_RM_pos_lanes[6];
        const float sum_9 = sum_3 > sum || (sum_3 == sum && sum_4 < sum_2) ? sum_3 : sum;
        const int sum_10 = sum_3 > sum || (sum_3 == sum && sum_4 < sum_2) ? sum_4 : sum_2;
        const float sum_11 = sum_7 > sum_5 || (sum_7 == sum_5 && sum_8 < sum_6) ? sum_7 : sum_5;
        const int sum_12 = sum_7 > sum_5 || (sum_7 == sum_5 && sum_8 < sum_6) ? sum_8 : sum_6;
        const float sum_13 = sum_11 > sum_9 || (sum_11 == sum_9 && sum_12 < sum_10) ? sum_11 : sum_9;
        const int sum_14 = sum_11 > sum_9 || (sum_11 == sum_9 && sum_12 < sum_10) ? sum_12 : sum_10;
        best[i_1] = sum_13 > -INFINITY || (sum_13 == -INFINITY && sum_14 < -1) ? sum_13 : -INFINITY;
        place[i_1] = sum_13 > -INFINITY || (sum_13 == -INFINITY && sum_14 < -1) ? sum_14 : -1;
    }
}
