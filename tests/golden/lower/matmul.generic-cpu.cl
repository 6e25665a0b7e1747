typedef float8 __attribute__((aligned(4))) float8_u;

typedef float2 __attribute__((aligned(4))) float2_u;

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
            float8 C_RM = 0.0f;
            for (int k_3 = 0; k_3 < 67; ++k_3) {
                // 3: (de-)comp( ^, ^, 1 ) ( ^, ^ ; C:RM[1,2] ) ( ^, ^, ^ )
                // 4: (de-)comp( ^, 1, ^ ) ( ^, ^ ; ^ ) ( ^, VEC.x, ^ )
                C_RM = C_RM + A[k_3] * *(__global const float8_u *)&B[(long)k_3 * 50 + blk_j * 16 + j_2 * 8];
            }
            *(__global float8_u *)&C[(long)blk_j * 16 + j_2 * 8] += C_RM;
        }
    } else {
        // tiles cut by the edge
        // 1: (de-)comp( ^, 16, ^ ) ( ^, ^ ; ^ ) ( ^, BLK.x, ^ )
        {
            // 2: (de-)comp( ^, 8, ^ ) ( ^, ^ ; ^ ) ( ^, ^, ^ )
            float2 C_RM_2[4];
            #pragma unroll
            for (int i = 0; i < 4; ++i)
                C_RM_2[i] = 0.0f;
            for (int k_3 = 0; k_3 < 67; ++k_3) {
                // 3: (de-)comp( ^, ^, 1 ) ( ^, ^ ; C:RM[1,2] ) ( ^, ^, ^ )
                // 4: (de-)comp( ^, 1, ^ ) ( ^, ^ ; ^ ) ( ^, VEC.x, ^ )
                C_RM_2[0] = C_RM_2[0] + A[k_3] * *(__global const float2_u *)&B[(long)k_3 * 50 + 48];
            }
            *(__global float2_u *)&C[48] += C_RM_2[0];
        }
    }
}
