typedef float8 __attribute__((aligned(4))) float8_u;

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void conv2d_kernel(__global const float *restrict I, __global const float *restrict F,
        __global float *restrict O)
{
    const int blk_p = get_group_id(0);
    const int blk_q = get_group_id(1);
    if (blk_q < 1) {
        // whole tiles
        // 1: (de-)comp( ^, 1, 6, ^, ^, ^, ^ ) ( ^, ^ ; ^ ) ( ^, BLK.x, BLK.y, ^, ^, ^, ^ )
        for (int k_2 = 0; k_2 < 1; ++k_2) {
            for (int n_2 = 0; n_2 < 2; ++n_2) {
                // 2: (de-)comp( 1, ^, ^, 8, ^, ^, ^ ) ( ^, ^ ; ^ ) ( ^, ^, ^, FOR.1, ^, ^, ^ )
                __attribute__((aligned(16))) float O_RM[48] = {0};
                for (int r_3 = 0; r_3 < 3; ++r_3) {
                    for (int s_3 = 0; s_3 < 2; ++s_3) {
                        for (int c_3 = 0; c_3 < 3; ++c_3) {
                            // 3: (de-)comp( ^, ^, ^, ^, 1, 1, 1 ) ( ^, ^ ; O:RM[1,2,3,4] ) ( ^, ^, ^, ^, ^, ^, ^ )
                            #pragma unroll
                            for (int q_4 = 0; q_4 < 6; ++q_4) {
                                // 4: (de-)comp( ^, ^, 1, ^, ^, ^, ^ ) ( ^, ^ ; ^ ) ( ^, ^, ^, ^, ^, ^, ^ ) @unroll
                                // 5: (de-)comp( ^, ^, ^, 1, ^, ^, ^ ) ( ^, ^ ; ^ ) ( ^, ^, ^, VEC.x, ^, ^, ^ )
                                #pragma unroll
                                for (int vec_k = 0; vec_k < 8; ++vec_k)
                                    O_RM[q_4 * 8 + vec_k] += I[n_2 * 540 + blk_p * 90 + r_3 * 45 +
                                            blk_q * 36 + q_4 * 6 + s_3 * 3 + c_3] * F[k_2 * 144 +
                                            vec_k * 18 + r_3 * 6 + s_3 * 3 + c_3];
                            }
                        }
                    }
                }
                #pragma unroll
                for (int q_4 = 0; q_4 < 6; ++q_4)
                    *(__global float8_u *)&O[n_2 * 385 + blk_p * 77 + blk_q * 66 + q_4 * 11 + k_2 * 8] =
                            *(const float8_u *)&O_RM[q_4 * 8];
            }
        }
        for (int k_2 = 1; k_2 < 2; ++k_2) {
            for (int n_2 = 0; n_2 < 2; ++n_2) {
                // 2: (de-)comp( 1, ^, ^, 8, ^, ^, ^ ) ( ^, ^ ; ^ ) ( ^, ^, ^, FOR.1, ^, ^, ^ )
                __attribute__((aligned(16))) float O_RM[48] = {0};
                for (int r_3 = 0; r_3 < 3; ++r_3) {
                    for (int s_3 = 0; s_3 < 2; ++s_3) {
                        for (int c_3 = 0; c_3 < 3; ++c_3) {
                            // 3: (de-)comp( ^, ^, ^, ^, 1, 1, 1 ) ( ^, ^ ; O:RM[1,2,3,4] ) ( ^, ^, ^, ^, ^, ^, ^ )
                            #pragma unroll
                            for (int q_4 = 0; q_4 < 6; ++q_4) {
                                // 4: (de-)comp( ^, ^, 1, ^, ^, ^, ^ ) ( ^, ^ ; ^ ) ( ^, ^, ^, ^, ^, ^, ^ ) @unroll
                                // 5: (de-)comp( ^, ^, ^, 1, ^, ^, ^ ) ( ^, ^ ; ^ ) ( ^, ^, ^, VEC.x, ^, ^, ^ )
                                #pragma unroll
                                for (int vec_k = 0; vec_k < 8; ++vec_k) {
                                    if (vec_k + 8 < 11)
                                        O_RM[q_4 * 8 + vec_k] += I[n_2 * 540 + blk_p * 90 + r_3 * 45 +
                                                blk_q * 36 + q_4 * 6 + s_3 * 3 + c_3] * F[vec_k * 18 +
                                                r_3 * 6 + s_3 * 3 + c_3 + 144];
                                }
                            }
                        }
                    }
                }
                #pragma unroll
                for (int q_4 = 0; q_4 < 6; ++q_4) {
                    #pragma unroll
                    for (int vec_k = 0; vec_k < 8; ++vec_k) {
                        if (vec_k + 8 < 11)
                            O[n_2 * 385 + blk_p * 77 + blk_q * 66 + q_4 * 11 + vec_k + 8] = O_RM[q_4 * 8 +
                                    vec_k];
                    }
                }
            }
        }
    } else {
        // tiles cut by the edge
        // 1: (de-)comp( ^, 1, 6, ^, ^, ^, ^ ) ( ^, ^ ; ^ ) ( ^, BLK.x, BLK.y, ^, ^, ^, ^ )
        for (int k_2 = 0; k_2 < 1; ++k_2) {
            for (int n_2 = 0; n_2 < 2; ++n_2) {
                // 2: (de-)comp( 1, ^, ^, 8, ^, ^, ^ ) ( ^, ^ ; ^ ) ( ^, ^, ^, FOR.1, ^, ^, ^ )
                __attribute__((aligned(16))) float O_RM[48] = {0};
                for (int r_3 = 0; r_3 < 3; ++r_3) {
                    for (int s_3 = 0; s_3 < 2; ++s_3) {
                        for (int c_3 = 0; c_3 < 3; ++c_3) {
                            // 3: (de-)comp( ^, ^, ^, ^, 1, 1, 1 ) ( ^, ^ ; O:RM[1,2,3,4] ) ( ^, ^, ^, ^, ^, ^, ^ )
                            #pragma unroll
                            for (int q_4 = 0; q_4 < 6; ++q_4) {
                                // 4: (de-)comp( ^, ^, 1, ^, ^, ^, ^ ) ( ^, ^ ; ^ ) ( ^, ^, ^, ^, ^, ^, ^ ) @unroll
                                // 5: (de-)comp( ^, ^, ^, 1, ^, ^, ^ ) ( ^, ^ ; ^ ) ( ^, ^, ^, VEC.x, ^, ^, ^ )
                                #pragma unroll
                                for (int vec_k = 0; vec_k < 8; ++vec_k) {
                                    if (blk_q * 6 + q_4 < 7)
                                        O_RM[q_4 * 8 + vec_k] += I[n_2 * 540 + blk_p * 90 + r_3 * 45 +
                                                blk_q * 36 + q_4 * 6 + s_3 * 3 + c_3] * F[k_2 * 144 +
                                                vec_k * 18 + r_3 * 6 + s_3 * 3 + c_3];
                                }
                            }
                        }
                    }
                }
                #pragma unroll
                for (int q_4 = 0; q_4 < 6; ++q_4) {
                    if (blk_q * 6 + q_4 < 7)
                        *(__global float8_u *)&O[n_2 * 385 + blk_p * 77 + blk_q * 66 + q_4 * 11 + k_2 * 8] =
                                *(const float8_u *)&O_RM[q_4 * 8];
                }
            }
        }
        for (int k_2 = 1; k_2 < 2; ++k_2) {
            for (int n_2 = 0; n_2 < 2; ++n_2) {
                // 2: (de-)comp( 1, ^, ^, 8, ^, ^, ^ ) ( ^, ^ ; ^ ) ( ^, ^, ^, FOR.1, ^, ^, ^ )
                __attribute__((aligned(16))) float O_RM[48] = {0};
                for (int r_3 = 0; r_3 < 3; ++r_3) {
                    for (int s_3 = 0; s_3 < 2; ++s_3) {
                        for (int c_3 = 0; c_3 < 3; ++c_3) {
                            // 3: (de-)comp( ^, ^, ^, ^, 1, 1, 1 ) ( ^, ^ ; O:RM[1,2,3,4] ) ( ^, ^, ^, ^, ^, ^, ^ )
                            #pragma unroll
                            for (int q_4 = 0; q_4 < 6; ++q_4) {
                                // 4: (de-)comp( ^, ^, 1, ^, ^, ^, ^ ) ( ^, ^ ; ^ ) ( ^, ^, ^, ^, ^, ^, ^ ) @unroll
                                // 5: (de-)comp( ^, ^, ^, 1, ^, ^, ^ ) ( ^, ^ ; ^ ) ( ^, ^, ^, VEC.x, ^, ^, ^ )
                                #pragma unroll
                                for (int vec_k = 0; vec_k < 8; ++vec_k) {
                                    if (blk_q * 6 + q_4 < 7 && vec_k + 8 < 11)
                                        O_RM[q_4 * 8 + vec_k] += I[n_2 * 540 + blk_p * 90 + r_3 * 45 +
                                                blk_q * 36 + q_4 * 6 + s_3 * 3 + c_3] * F[vec_k * 18 +
                                                r_3 * 6 + s_3 * 3 + c_3 + 144];
                                }
                            }
                        }
                    }
                }
                #pragma unroll
                for (int q_4 = 0; q_4 < 6; ++q_4) {
                    #pragma unroll
                    for (int vec_k = 0; vec_k < 8; ++vec_k) {
                        if (blk_q * 6 + q_4 < 7 && vec_k + 8 < 11)
                            O[n_2 * 385 + blk_p * 77 + blk_q * 66 + q_4 * 11 + vec_k + 8] = O_RM[q_4 * 8 +
                                    vec_k];
                    }
                }
            }
        }
    }
}
