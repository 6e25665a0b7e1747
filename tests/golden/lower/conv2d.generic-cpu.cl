typedef float8 __attribute__((aligned(4))) float8_u;

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void conv2d_kernel(__global const float *restrict I, __global const float *restrict F,
        __global float *restrict O)
{
    __local __attribute__((aligned(16))) float F_SM[203];
    for (int s_F_SM = 0; s_F_SM < 5; ++s_F_SM)
        F_SM[(long)s_F_SM + 198] = 0.0f;
    // 1: (de-)comp( ^, ^, ^, ^, ^, ^, ^ ) ( ^, F:SM[2,3,4,1] ; ^ ) ( ^, ^, ^, ^, ^, ^, ^ )
    for (int c_F1 = 0; c_F1 < 3; ++c_F1) {
        for (int c_F2 = 0; c_F2 < 2; ++c_F2) {
            for (int c_F3 = 0; c_F3 < 3; ++c_F3) {
                for (int c_F0 = 0; c_F0 < 11; ++c_F0)
                    F_SM[(long)c_F1 * 66 + c_F2 * 33 + c_F3 * 11 + c_F0] = F[(long)c_F0 * 18 + c_F1 * 6 +
                            c_F2 * 3 + c_F3];
            }
        }
    }
    for (int n_2 = 0; n_2 < 2; ++n_2) {
        for (int p_2 = 0; p_2 < 5; ++p_2) {
            {
                // 2: (de-)comp( 1, 1, 4, ^, ^, ^, ^ ) ( ^, ^ ; ^ ) ( ^, ^, ^, ^, ^, ^, ^ )
                float8 O_RM[8];
                #pragma unroll
                for (int i = 0; i < 8; ++i)
                    O_RM[i] = 0.0f;
                for (int r_3 = 0; r_3 < 3; ++r_3) {
                    for (int s_3 = 0; s_3 < 2; ++s_3) {
                        for (int c_3 = 0; c_3 < 3; ++c_3) {
                            // 3: (de-)comp( ^, ^, ^, ^, 1, 1, 1 )
                            //             ( ^, ^ ; O:RM[1,2,3,4] )
                            //             ( ^, ^, ^, ^, ^, ^, ^ )
                            #pragma unroll
                            for (int k_4 = 0; k_4 < 2; ++k_4) {
                                #pragma unroll
                                for (int q_4 = 0; q_4 < 4; ++q_4) {
                                    // 4: (de-)comp( ^, ^, 1, 8, ^, ^, ^ )
                                    //             ( ^, ^ ; ^ )
                                    //             ( ^, ^, ^, FOR.1, ^, ^, ^ ) @unroll
                                    // 5: (de-)comp( ^, ^, ^, 1, ^, ^, ^ )
                                    //             ( ^, ^ ; ^ )
                                    //             ( ^, ^, ^, VEC.x, ^, ^, ^ )
                                    O_RM[q_4 * 2 + k_4] = O_RM[q_4 * 2 + k_4] + I[(long)n_2 * 540 +
                                            p_2 * 90 + r_3 * 45 + q_4 * 6 + s_3 * 3 +
                                            c_3] * *(__local const float8_u *)&F_SM[(long)r_3 * 66 +
                                            s_3 * 33 + c_3 * 11 + k_4 * 8];
                                }
                            }
                        }
                    }
                }
                #pragma unroll
                for (int q_4 = 0; q_4 < 4; ++q_4) {
                    {
                        *(__global float8_u *)&O[(long)n_2 * 385 + p_2 * 77 + q_4 * 11] = O_RM[q_4 * 2];
                    }
                    {
                        O[(long)n_2 * 385 + p_2 * 77 + q_4 * 11 + 8] = O_RM[q_4 * 2 + 1].s0;
                        O[(long)n_2 * 385 + p_2 * 77 + q_4 * 11 + 9] = O_RM[q_4 * 2 + 1].s1;
                        O[(long)n_2 * 385 + p_2 * 77 + q_4 * 11 + 10] = O_RM[q_4 * 2 + 1].s2;
                    }
                }
            }
            {
                // 2: (de-)comp( 1, 1, 4, ^, ^, ^, ^ ) ( ^, ^ ; ^ ) ( ^, ^, ^, ^, ^, ^, ^ )
                float8 O_RM_2[8];
                #pragma unroll
                for (int i = 0; i < 8; ++i)
                    O_RM_2[i] = 0.0f;
                for (int r_3 = 0; r_3 < 3; ++r_3) {
                    for (int s_3 = 0; s_3 < 2; ++s_3) {
                        for (int c_3 = 0; c_3 < 3; ++c_3) {
                            // 3: (de-)comp( ^, ^, ^, ^, 1, 1, 1 )
                            //             ( ^, ^ ; O:RM[1,2,3,4] )
                            //             ( ^, ^, ^, ^, ^, ^, ^ )
                            #pragma unroll
                            for (int k_4 = 0; k_4 < 2; ++k_4) {
                                #pragma unroll
                                for (int q_4 = 0; q_4 < 3; ++q_4) {
                                    // 4: (de-)comp( ^, ^, 1, 8, ^, ^, ^ )
                                    //             ( ^, ^ ; ^ )
                                    //             ( ^, ^, ^, FOR.1, ^, ^, ^ ) @unroll
                                    // 5: (de-)comp( ^, ^, ^, 1, ^, ^, ^ )
                                    //             ( ^, ^ ; ^ )
                                    //             ( ^, ^, ^, VEC.x, ^, ^, ^ )
                                    O_RM_2[q_4 * 2 + k_4] = O_RM_2[q_4 * 2 + k_4] + I[(long)n_2 * 540 +
                                            p_2 * 90 + r_3 * 45 + q_4 * 6 + s_3 * 3 + c_3 +
                                            24] * *(__local const float8_u *)&F_SM[(long)r_3 * 66 +
                                            s_3 * 33 + c_3 * 11 + k_4 * 8];
                                }
                            }
                        }
                    }
                }
                #pragma unroll
                for (int q_4 = 0; q_4 < 3; ++q_4) {
                    {
                        *(__global float8_u *)&O[(long)n_2 * 385 + p_2 * 77 + q_4 * 11 + 44] =
                                O_RM_2[q_4 * 2];
                    }
                    {
                        O[(long)n_2 * 385 + p_2 * 77 + q_4 * 11 + 52] = O_RM_2[q_4 * 2 + 1].s0;
                        O[(long)n_2 * 385 + p_2 * 77 + q_4 * 11 + 53] = O_RM_2[q_4 * 2 + 1].s1;
                        O[(long)n_2 * 385 + p_2 * 77 + q_4 * 11 + 54] = O_RM_2[q_4 * 2 + 1].s2;
                    }
                }
            }
        }
    }
}
