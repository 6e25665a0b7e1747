typedef float8 __attribute__((aligned(4))) float8_u;

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void matmul_kernel(__global const float *restrict A, __global const float *restrict B,
        __global float *restrict C)
{
    const int blk_j = get_group_id(0);
    if (blk_j < 3) {
        // whole tiles
        // 1: (de-)comp( ^, 16, ^ ) ( ^, ^ ; ^ ) ( ^, BLK.x, ^ )
        for (int j_2 = 0; j_2 < 2; ++j_2) {
            // 2: (de-)comp( ^, 8, ^ ) ( ^, ^ ; ^ ) ( ^, ^, ^ )
            __attribute__((aligned(16))) float C_RM[8] = {0};
            for (int k_3 = 0; k_3 < 67; ++k_3) {
                // 3: (de-)comp( ^, ^, 1 ) ( ^, ^ ; C:RM[1,2] ) ( ^, ^, ^ )
                // 4: (de-)comp( ^, 1, ^ ) ( ^, ^ ; ^ ) ( ^, VEC.x, ^ )
                *(float8_u *)&C_RM[0] += A[k_3] * *(__global const float8_u *)&B[(long)k_3 * 50 +
                        blk_j * 16 + j_2 * 8];
            }
            *(__global float8_u *)&C[(long)blk_j * 16 + j_2 * 8] += *(const float8_u *)&C_RM[0];
        }
    } else {
        // tiles cut by the edge
        // 1: (de-)comp( ^, 16, ^ ) ( ^, ^ ; ^ ) ( ^, BLK.x, ^ )
        for (int j_2 = 0; j_2 < 2; ++j_2) {
            // 2: (de-)comp( ^, 8, ^ ) ( ^, ^ ; ^ ) ( ^, ^, ^ )
            __attribute__((aligned(16))) float C_RM[8] = {0};
            for (int k_3 = 0; k_3 < 67; ++k_3) {
                // 3: (de-)comp( ^, ^, 1 ) ( ^, ^ ; C:RM[1,2] ) ( ^, ^, ^ )
                // 4: (de-)comp( ^, 1, ^ ) ( ^, ^ ; ^ ) ( ^, VEC.x, ^ )
                #pragma unroll
                for (int vec_j = 0; vec_j < 8; ++vec_j) {
                    if (blk_j * 16 + j_2 * 8 + vec_j < 50)
                        C_RM[vec_j] += A[k_3] * B[(long)k_3 * 50 + blk_j * 16 + j_2 * 8 + vec_j];
                }
            }
            #pragma unroll
            for (int vec_j = 0; vec_j < 8; ++vec_j) {
                if (blk_j * 16 + j_2 * 8 + vec_j < 50)
                    C[(long)blk_j * 16 + j_2 * 8 + vec_j] += C_RM[vec_j];
            }
        }
    }
}
