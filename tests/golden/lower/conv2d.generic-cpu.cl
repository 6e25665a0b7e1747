typedef float8 __attribute__((aligned(4))) float8_u;

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void conv2d_kernel(__global const float *restrict I, __global const float *restrict F,
        __global float *restrict O)
{
    __local __attribute__((aligned(16))) float F_SM[144];
    const int blk_n = get_group_id(1);
    const int blk_p = get_group_id(0);
    // 1: (de-)comp( 1, 1, ^, ^, ^, ^, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^, ^, ^, ^, ^ )
    {
        // 2: (de-)comp( ^, ^, ^, 8, ^, ^, ^ ) ( ^, F:SM[2,3,4,1] ; ^ ) ( ^, ^, ^, FOR.1, ^, ^, ^ )
        for (int c_F1 = 0; c_F1 < 3; ++c_F1) {
            for (int c_F2 = 0; c_F2 < 2; ++c_F2) {
                for (int c_F3 = 0; c_F3 < 3; ++c_F3) {
                    for (int c_F0 = 0; c_F0 < 8; ++c_F0)
                        F_SM[(long)c_F1 * 48 + c_F2 * 24 + c_F3 * 8 + c_F0] = F[(long)c_F0 * 18 + c_F1 * 6 +
                                c_F2 * 3 + c_F3];
                }
            }
        }
        {
            // 3: (de-)comp( ^, ^, 4, ^, ^, ^, ^ ) ( ^, ^ ; ^ ) ( ^, ^, ^, ^, ^, ^, ^ )
            float8 O_RM[4];
            #pragma unroll
            for (int i = 0; i < 4; ++i)
                O_RM[i] = 0.0f;
            for (int r_4 = 0; r_4 < 3; ++r_4) {
                for (int s_4 = 0; s_4 < 2; ++s_4) {
                    for (int c_4 = 0; c_4 < 3; ++c_4) {
                        // 4: (de-)comp( ^, ^, ^, ^, 1, 1, 1 )
                        //             ( ^, ^ ; O:RM[1,2,3,4] )
                        //             ( ^, ^, ^, ^, ^, ^, ^ )
                        #pragma unroll
                        for (int q_5 = 0; q_5 < 4; ++q_5) {
                            // 5: (de-)comp( ^, ^, 1, ^, ^, ^, ^ )
                            //             ( ^, ^ ; ^ )
                            //             ( ^, ^, ^, ^, ^, ^, ^ ) @unroll
                            // 6: (de-)comp( ^, ^, ^, 1, ^, ^, ^ ) ( ^, ^ ; ^ ) ( ^, ^, ^, VEC.x, ^, ^, ^ )
                            O_RM[q_5] = O_RM[q_5] + I[(long)blk_n * 540 + blk_p * 90 + r_4 * 45 + q_5 * 6 +
                                    s_4 * 3 + c_4] * *(__local const float8_u *)&F_SM[(long)r_4 * 48 +
                                    s_4 * 24 + c_4 * 8];
                        }
                    }
                }
            }
            #pragma unroll
            for (int q_5 = 0; q_5 < 4; ++q_5)
                *(__global float8_u *)&O[(long)blk_n * 385 + blk_p * 77 + q_5 * 11] = O_RM[q_5];
        }
        {
            // 3: (de-)comp( ^, ^, 4, ^, ^, ^, ^ ) ( ^, ^ ; ^ ) ( ^, ^, ^, ^, ^, ^, ^ )
            float8 O_RM_2[4];
            #pragma unroll
            for (int i = 0; i < 4; ++i)
                O_RM_2[i] = 0.0f;
            for (int r_4 = 0; r_4 < 3; ++r_4) {
                for (int s_4 = 0; s_4 < 2; ++s_4) {
                    for (int c_4 = 0; c_4 < 3; ++c_4) {
                        // 4: (de-)comp( ^, ^, ^, ^, 1, 1, 1 )
                        //             ( ^, ^ ; O:RM[1,2,3,4] )
                        //             ( ^, ^, ^, ^, ^, ^, ^ )
                        #pragma unroll
                        for (int q_5 = 0; q_5 < 3; ++q_5) {
                            // 5: (de-)comp( ^, ^, 1, ^, ^, ^, ^ )
                            //             ( ^, ^ ; ^ )
                            //             ( ^, ^, ^, ^, ^, ^, ^ ) @unroll
                            // 6: (de-)comp( ^, ^, ^, 1, ^, ^, ^ ) ( ^, ^ ; ^ ) ( ^, ^, ^, VEC.x, ^, ^, ^ )
                            O_RM_2[q_5] = O_RM_2[q_5] + I[(long)blk_n * 540 + blk_p * 90 + r_4 * 45 +
                                    q_5 * 6 + s_4 * 3 + c_4 +
                                    24] * *(__local const float8_u *)&F_SM[(long)r_4 * 48 + s_4 * 24 +
                                    c_4 * 8];
                        }
                    }
                }
            }
            #pragma unroll
            for (int q_5 = 0; q_5 < 3; ++q_5)
                *(__global float8_u *)&O[(long)blk_n * 385 + blk_p * 77 + q_5 * 11 + 44] = O_RM_2[q_5];
        }
    }
    {
        // 2: (de-)comp( ^, ^, ^, 8, ^, ^, ^ ) ( ^, F:SM[2,3,4,1] ; ^ ) ( ^, ^, ^, FOR.1, ^, ^, ^ )
        for (int c_F1_2 = 0; c_F1_2 < 3; ++c_F1_2) {
            for (int c_F2_2 = 0; c_F2_2 < 2; ++c_F2_2) {
                for (int c_F3_2 = 0; c_F3_2 < 3; ++c_F3_2) {
                    for (int c_F0_2 = 0; c_F0_2 < 8; ++c_F0_2)
                        F_SM[(long)c_F1_2 * 48 + c_F2_2 * 24 + c_F3_2 * 8 + c_F0_2] = c_F0_2 + 8 < 11 ?
                                F[(long)c_F0_2 * 18 + c_F1_2 * 6 + c_F2_2 * 3 + c_F3_2 + 144] : 0.0f;
                }
            }
        }
        {
            // 3: (de-)comp( ^, ^, 4, ^, ^, ^, ^ ) ( ^, ^ ; ^ ) ( ^, ^, ^, ^, ^, ^, ^ )
            float O_RM_3[32] = {0};
            for (int r_4 = 0; r_4 < 3; ++r_4) {
                for (int s_4 = 0; s_4 < 2; ++s_4) {
                    for (int c_4 = 0; c_4 < 3; ++c_4) {
                        // 4: (de-)comp( ^, ^, ^, ^, 1, 1, 1 )
                        //             ( ^, ^ ; O:RM[1,2,3,4] )
                        //             ( ^, ^, ^, ^, ^, ^, ^ )
                        #pragma unroll
                        for (int q_5 = 0; q_5 < 4; ++q_5) {
                            // 5: (de-)comp( ^, ^, 1, ^, ^, ^, ^ )
                            //             ( ^, ^ ; ^ )
                            //             ( ^, ^, ^, ^, ^, ^, ^ ) @unroll
                            // 6: (de-)comp( ^, ^, ^, 1, ^, ^, ^ ) ( ^, ^ ; ^ ) ( ^, ^, ^, VEC.x, ^, ^, ^ )
                            #pragma unroll
                            for (int vec_k = 0; vec_k < 3; ++vec_k)
                                O_RM_3[q_5 * 8 + vec_k] += I[(long)blk_n * 540 + blk_p * 90 + r_4 * 45 +
                                        q_5 * 6 + s_4 * 3 + c_4] * F_SM[(long)r_4 * 48 + s_4 * 24 + c_4 * 8 +
                                        vec_k];
                        }
                    }
                }
            }
            #pragma unroll
            for (int q_5 = 0; q_5 < 4; ++q_5) {
                #pragma unroll
                for (int vec_k = 0; vec_k < 3; ++vec_k)
                    O[(long)blk_n * 385 + blk_p * 77 + q_5 * 11 + vec_k + 8] = O_RM_3[q_5 * 8 + vec_k];
            }
        }
        {
            // 3: (de-)comp( ^, ^, 4, ^, ^, ^, ^ ) ( ^, ^ ; ^ ) ( ^, ^, ^, ^, ^, ^, ^ )
            float O_RM_4[32] = {0};
            for (int r_4 = 0; r_4 < 3; ++r_4) {
                for (int s_4 = 0; s_4 < 2; ++s_4) {
                    for (int c_4 = 0; c_4 < 3; ++c_4) {
                        // 4: (de-)comp( ^, ^, ^, ^, 1, 1, 1 )
                        //             ( ^, ^ ; O:RM[1,2,3,4] )
                        //             ( ^, ^, ^, ^, ^, ^, ^ )
                        #pragma unroll
                        for (int q_5 = 0; q_5 < 3; ++q_5) {
                            // 5: (de-)comp( ^, ^, 1, ^, ^, ^, ^ )
                            //             ( ^, ^ ; ^ )
                            //             ( ^, ^, ^, ^, ^, ^, ^ ) @unroll
                            // 6: (de-)comp( ^, ^, ^, 1, ^, ^, ^ ) ( ^, ^ ; ^ ) ( ^, ^, ^, VEC.x, ^, ^, ^ )
                            #pragma unroll
                            for (int vec_k = 0; vec_k < 3; ++vec_k)
                                O_RM_4[q_5 * 8 + vec_k] += I[(long)blk_n * 540 + blk_p * 90 + r_4 * 45 +
                                        q_5 * 6 + s_4 * 3 + c_4 + 24] * F_SM[(long)r_4 * 48 + s_4 * 24 +
                                        c_4 * 8 + vec_k];
                        }
                    }
                }
            }
            #pragma unroll
            for (int q_5 = 0; q_5 < 3; ++q_5) {
                #pragma unroll
                for (int vec_k = 0; vec_k < 3; ++vec_k)
                    O[(long)blk_n * 385 + blk_p * 77 + q_5 * 11 + vec_k + 52] = O_RM_4[q_5 * 8 + vec_k];
            }
        }
    }
}
