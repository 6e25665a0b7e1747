typedef float8 __attribute__((aligned(4))) float8_u;

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void dot_kernel(__global const float *restrict A, __global const float *restrict B,
        __global float *restrict dot_part)
{
    const int blk_k = get_group_id(0);
    if (blk_k < 19) {
        // whole tiles
        // 1: (de-)comp( 512 ) ( ^, ^ ; ^ ) ( BLK.x )
        float8 C_RM = 0.0f;
        for (int k_2 = 0; k_2 < 64; ++k_2) {
            // 2: (de-)comp( 8 ) ( ^, ^ ; ^ ) ( ^ )
            // 3: (de-)comp( 1 ) ( ^, ^ ; ^ ) ( VEC.x )
            C_RM = C_RM + *(__global const float8_u *)&A[(long)blk_k * 512 +
                    k_2 * 8] * *(__global const float8_u *)&B[(long)blk_k * 512 + k_2 * 8];
        }
        __attribute__((aligned(16))) float C_RM_lanes[8];
        *(float8_u *)&C_RM_lanes[0] = C_RM;
        const float sum = C_RM_lanes[0] + C_RM_lanes[1];
        const float sum_2 = C_RM_lanes[2] + C_RM_lanes[3];
        const float sum_3 = C_RM_lanes[4] + C_RM_lanes[5];
        const float sum_4 = C_RM_lanes[6] + C_RM_lanes[7];
        const float sum_5 = sum + sum_2;
        const float sum_6 = sum_3 + sum_4;
        const float sum_7 = sum_5 + sum_6;
        dot_part[blk_k] = sum_7;
    } else {
        // tiles cut by the edge
        // 1: (de-)comp( 512 ) ( ^, ^ ; ^ ) ( BLK.x )
        __attribute__((aligned(16))) float C_RM_2[8] = {0};
        for (int k_2 = 0; k_2 < 34; ++k_2) {
            // 2: (de-)comp( 8 ) ( ^, ^ ; ^ ) ( ^ )
            // 3: (de-)comp( 1 ) ( ^, ^ ; ^ ) ( VEC.x )
            *(float8_u *)&C_RM_2[0] += *(__global const float8_u *)&A[(long)k_2 * 8 +
                    9728] * *(__global const float8_u *)&B[(long)k_2 * 8 + 9728];
        }
        {
            // 2: (de-)comp( 8 ) ( ^, ^ ; ^ ) ( ^ )
            // 3: (de-)comp( 1 ) ( ^, ^ ; ^ ) ( VEC.x )
            #pragma unroll
            for (int vec_k = 0; vec_k < 7; ++vec_k)
                C_RM_2[vec_k] += A[(long)vec_k + 10000] * B[(long)vec_k + 10000];
        }
        __attribute__((aligned(16))) float C_RM_lanes_2[8];
        *(float8_u *)&C_RM_lanes_2[0] = *(const float8_u *)&C_RM_2[0];
        const float sum_8 = C_RM_lanes_2[0] + C_RM_lanes_2[1];
        const float sum_9 = C_RM_lanes_2[2] + C_RM_lanes_2[3];
        const float sum_10 = C_RM_lanes_2[4] + C_RM_lanes_2[5];
        const float sum_11 = C_RM_lanes_2[6] + C_RM_lanes_2[7];
        const float sum_12 = sum_8 + sum_9;
        const float sum_13 = sum_10 + sum_11;
        const float sum_14 = sum_12 + sum_13;
        dot_part[blk_k] = sum_14;
    }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void dot_combine(__global float *restrict C, __global const float *restrict dot_part)
{
    float C_RM = 0.0f;
    for (int part_3 = 0; part_3 < 20; ++part_3)
        C_RM += dot_part[part_3];
    C[0] = C_RM;
}
