typedef float8 __attribute__((aligned(4))) float8_u;

typedef float2 __attribute__((aligned(4))) float2_u;

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void matmul_kernel(__global const float *restrict A, __global const float *restrict B,
        __global float *restrict C)
{
    {
        // 1: (de-)comp( ^, 32, ^ ) ( ^, ^ ; ^ ) ( ^, ^, ^ )
        float8 C_RM[4];
        #pragma unroll
        for (int i = 0; i < 4; ++i)
            C_RM[i] = 0.0f;
        for (int k_2 = 0; k_2 < 67; ++k_2) {
            // 2: (de-)comp( ^, ^, 1 ) ( ^, ^ ; C:RM[1,2] ) ( ^, ^, ^ )
            #pragma unroll
            for (int j_3 = 0; j_3 < 4; ++j_3) {
                // 3: (de-)comp( ^, 8, ^ ) ( ^, ^ ; ^ ) ( ^, ^, ^ )
                // 4: (de-)comp( ^, 1, ^ ) ( ^, ^ ; ^ ) ( ^, VEC.x, ^ )
                C_RM[j_3] = C_RM[j_3] + A[k_2] * *(__global const float8_u *)&B[(long)k_2 * 50 + j_3 * 8];
            }
        }
        #pragma unroll
        for (int j_3 = 0; j_3 < 4; ++j_3)
            *(__global float8_u *)&C[j_3 * 8] += C_RM[j_3];
    }
    {
        // 1: (de-)comp( ^, 32, ^ ) ( ^, ^ ; ^ ) ( ^, ^, ^ )
        __attribute__((aligned(16))) float C_RM_2[32] = {0};
        for (int k_2 = 0; k_2 < 67; ++k_2) {
            // 2: (de-)comp( ^, ^, 1 ) ( ^, ^ ; C:RM[1,2] ) ( ^, ^, ^ )
            #pragma unroll
            for (int j_3 = 0; j_3 < 2; ++j_3) {
                // 3: (de-)comp( ^, 8, ^ ) ( ^, ^ ; ^ ) ( ^, ^, ^ )
                // 4: (de-)comp( ^, 1, ^ ) ( ^, ^ ; ^ ) ( ^, VEC.x, ^ )
                *(float8_u *)&C_RM_2[j_3 * 8] += A[k_2] * *(__global const float8_u *)&B[(long)k_2 * 50 +
                        j_3 * 8 + 32];
            }
            {
                // 3: (de-)comp( ^, 8, ^ ) ( ^, ^ ; ^ ) ( ^, ^, ^ )
                // 4: (de-)comp( ^, 1, ^ ) ( ^, ^ ; ^ ) ( ^, VEC.x, ^ )
                *(float2_u *)&C_RM_2[16] += A[k_2] * *(__global const float2_u *)&B[(long)k_2 * 50 + 48];
            }
        }
        #pragma unroll
        for (int j_3 = 0; j_3 < 2; ++j_3)
            *(__global float8_u *)&C[(long)j_3 * 8 + 32] += *(const float8_u *)&C_RM_2[j_3 * 8];
        {
            *(__global float2_u *)&C[48] += *(const float2_u *)&C_RM_2[16];
        }
    }
}
