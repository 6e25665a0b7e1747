__device__ __forceinline__ void cp_async_4(void *dst, const void *src)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;"
                 :: "r"((unsigned)__cvta_generic_to_shared(dst)), "l"(__cvta_generic_to_global(src))
                 : "memory");
}

__device__ __forceinline__ void cp_async_commit()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

template <int pending>
__device__ __forceinline__ void cp_async_wait()
{
    asm volatile("cp.async.wait_group %0;" :: "n"(pending) : "memory");
}

__device__ __forceinline__ void cp_async_4_if(bool take, void *dst, const void *src)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
                 :: "r"((unsigned)__cvta_generic_to_shared(dst)), "l"(__cvta_generic_to_global(src)), "r"(take ? 4 : 0)
                 : "memory");
}

extern "C" __global__ void __launch_bounds__(32)
stencil_kernel(const float *X, float *Y)
{
    __shared__ __align__(16) float X_SM[493];
    asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernels in front have ended
    const int tid = (int)threadIdx.y * 8 + (int)threadIdx.x;
    const int thr_i = threadIdx.y;
    const int thr_j = threadIdx.x;
    const int blk_j = blockIdx.x;
    if (blk_j < 1) {
        // whole tiles
        // 1: (de-)comp( ^, 64 ) ( ^ ; ^ ) ( ^, BLK.x )
        for (int i_2 = 0; i_2 < 3; ++i_2) {
            __syncthreads();  // X_SM has been read
            for (int j_2 = 0; j_2 < 2; ++j_2) {
                // 2: (de-)comp( 16, 24 ) ( X:SM[2,1]@window@copy(async)@pad(1) ; ^ ) ( FOR.1, FOR.2 )
                if (j_2 == 0) {
                    __syncthreads();  // X_SM has been read
                    #pragma unroll
                    for (int c_X_round_3 = 0; c_X_round_3 < 15; ++c_X_round_3) {
                        if (c_X_round_3 * 32 + tid < 468) {
                            const int c_X_3 = c_X_round_3 * 32 + tid;
                            cp_async_4(&X_SM[c_X_3 / 26 + c_X_3 % 26 * 19], &X[i_2 * 1120 + blk_j * 64 +
                                    j_2 * 24 + c_X_3 / 26 * 70 + c_X_3 % 26]);
                        }
                    }
                } else {
                    __syncthreads();  // X_SM has been read
                    #pragma unroll
                    for (int c_X_round = 0; c_X_round < 2; ++c_X_round) {
                        __syncthreads();  // X_SM is filled
                        if (c_X_round * 32 + tid < 36) {
                            const int c_X = c_X_round * 32 + tid;
                            X_SM[c_X / 2 + c_X % 2 * 19] = X_SM[456 + c_X / 2 + c_X % 2 * 19];
                        }
                    }
                    __syncthreads();  // X_SM has been read
                    #pragma unroll
                    for (int c_X_round_2 = 0; c_X_round_2 < 14; ++c_X_round_2) {
                        if (c_X_round_2 * 32 + tid < 432) {
                            const int c_X_2 = c_X_round_2 * 32 + tid;
                            cp_async_4(&X_SM[38 + c_X_2 / 24 + c_X_2 % 24 * 19], &X[i_2 * 1120 + blk_j * 64 +
                                    j_2 * 24 + 2 + c_X_2 / 24 * 70 + c_X_2 % 24]);
                        }
                    }
                }
                cp_async_commit();
                cp_async_wait<0>();
                // 3: (de-)comp( 4, 3 ) ( ^ ; ^ ) ( THR.y, THR.x )
                __syncthreads();  // X_SM is filled
                for (int i_4 = 0; i_4 < 4; ++i_4) {
                    for (int j_4 = 0; j_4 < 3; ++j_4)
                        Y[i_2 * 1088 + thr_i * 272 + i_4 * 68 + blk_j * 64 + j_2 * 24 + thr_j * 3 + j_4] =
                                X_SM[thr_j * 57 + j_4 * 19 + thr_i * 4 + i_4] + X_SM[thr_j * 57 + j_4 * 19 +
                                thr_i * 4 + i_4 + 20] * X_SM[thr_j * 57 + j_4 * 19 + thr_i * 4 + i_4 + 2] +
                                X_SM[thr_j * 57 + j_4 * 19 + thr_i * 4 + i_4 + 39];
                }
            }
            {
                // 2: (de-)comp( 16, 24 ) ( X:SM[2,1]@window@copy(async)@pad(1) ; ^ ) ( FOR.1, FOR.2 )
                __syncthreads();  // X_SM has been read
                #pragma unroll
                for (int c_X_round_4 = 0; c_X_round_4 < 2; ++c_X_round_4) {
                    __syncthreads();  // X_SM is filled
                    if (c_X_round_4 * 32 + tid < 36) {
                        const int c_X_4 = c_X_round_4 * 32 + tid;
                        X_SM[c_X_4 / 2 + c_X_4 % 2 * 19] = X_SM[456 + c_X_4 / 2 + c_X_4 % 2 * 19];
                    }
                }
                __syncthreads();  // X_SM has been read
                #pragma unroll
                for (int c_X_round_5 = 0; c_X_round_5 < 14; ++c_X_round_5) {
                    if (c_X_round_5 * 32 + tid < 432) {
                        const int c_X_5 = c_X_round_5 * 32 + tid;
                        cp_async_4_if(blk_j * 64 + c_X_5 % 24 + 50 < 70, &X_SM[38 + c_X_5 / 24 +
                                c_X_5 % 24 * 19], &X[i_2 * 1120 + blk_j * 64 + 50 + c_X_5 / 24 * 70 +
                                c_X_5 % 24]);
                    }
                }
                cp_async_commit();
                cp_async_wait<0>();
                // 3: (de-)comp( 4, 3 ) ( ^ ; ^ ) ( THR.y, THR.x )
                __syncthreads();  // X_SM is filled
                for (int i_4 = 0; i_4 < 4; ++i_4) {
                    for (int j_4 = 0; j_4 < 3; ++j_4) {
                        if (thr_j * 3 + j_4 + 48 < 64)
                            Y[i_2 * 1088 + thr_i * 272 + i_4 * 68 + blk_j * 64 + thr_j * 3 + j_4 + 48] =
                                    X_SM[thr_j * 57 + j_4 * 19 + thr_i * 4 + i_4] + X_SM[thr_j * 57 +
                                    j_4 * 19 + thr_i * 4 + i_4 + 20] * X_SM[thr_j * 57 + j_4 * 19 +
                                    thr_i * 4 + i_4 + 2] + X_SM[thr_j * 57 + j_4 * 19 + thr_i * 4 + i_4 + 39];
                    }
                }
            }
        }
    } else {
        // tiles cut by the edge
        // 1: (de-)comp( ^, 64 ) ( ^ ; ^ ) ( ^, BLK.x )
        for (int i_2 = 0; i_2 < 3; ++i_2) {
            __syncthreads();  // X_SM has been read
            for (int j_2 = 0; j_2 < 2; ++j_2) {
                // 2: (de-)comp( 16, 24 ) ( X:SM[2,1]@window@copy(async)@pad(1) ; ^ ) ( FOR.1, FOR.2 )
                if (j_2 == 0) {
                    __syncthreads();  // X_SM has been read
                    #pragma unroll
                    for (int c_X_round_8 = 0; c_X_round_8 < 15; ++c_X_round_8) {
                        if (c_X_round_8 * 32 + tid < 468) {
                            const int c_X_8 = c_X_round_8 * 32 + tid;
                            cp_async_4_if(blk_j * 64 + j_2 * 24 + c_X_8 % 26 < 70, &X_SM[c_X_8 / 26 +
                                    c_X_8 % 26 * 19], &X[i_2 * 1120 + blk_j * 64 + j_2 * 24 +
                                    c_X_8 / 26 * 70 + c_X_8 % 26]);
                        }
                    }
                } else {
                    __syncthreads();  // X_SM has been read
                    #pragma unroll
                    for (int c_X_round_6 = 0; c_X_round_6 < 2; ++c_X_round_6) {
                        __syncthreads();  // X_SM is filled
                        if (c_X_round_6 * 32 + tid < 36) {
                            const int c_X_6 = c_X_round_6 * 32 + tid;
                            X_SM[c_X_6 / 2 + c_X_6 % 2 * 19] = X_SM[456 + c_X_6 / 2 + c_X_6 % 2 * 19];
                        }
                    }
                    __syncthreads();  // X_SM has been read
                    #pragma unroll
                    for (int c_X_round_7 = 0; c_X_round_7 < 14; ++c_X_round_7) {
                        if (c_X_round_7 * 32 + tid < 432) {
                            const int c_X_7 = c_X_round_7 * 32 + tid;
                            cp_async_4_if(blk_j * 64 + j_2 * 24 + c_X_7 % 24 + 2 < 70, &X_SM[38 +
                                    c_X_7 / 24 + c_X_7 % 24 * 19], &X[i_2 * 1120 + blk_j * 64 + j_2 * 24 +
                                    2 + c_X_7 / 24 * 70 + c_X_7 % 24]);
                        }
                    }
                }
                cp_async_commit();
                cp_async_wait<0>();
                // 3: (de-)comp( 4, 3 ) ( ^ ; ^ ) ( THR.y, THR.x )
                __syncthreads();  // X_SM is filled
                for (int i_4 = 0; i_4 < 4; ++i_4) {
                    for (int j_4 = 0; j_4 < 3; ++j_4) {
                        if (blk_j * 64 + j_2 * 24 + thr_j * 3 + j_4 < 68)
                            Y[i_2 * 1088 + thr_i * 272 + i_4 * 68 + blk_j * 64 + j_2 * 24 + thr_j * 3 +
                                    j_4] = X_SM[thr_j * 57 + j_4 * 19 + thr_i * 4 + i_4] + X_SM[thr_j * 57 +
                                    j_4 * 19 + thr_i * 4 + i_4 + 20] * X_SM[thr_j * 57 + j_4 * 19 +
                                    thr_i * 4 + i_4 + 2] + X_SM[thr_j * 57 + j_4 * 19 + thr_i * 4 + i_4 + 39];
                    }
                }
            }
            {
                // 2: (de-)comp( 16, 24 ) ( X:SM[2,1]@window@copy(async)@pad(1) ; ^ ) ( FOR.1, FOR.2 )
                __syncthreads();  // X_SM has been read
                #pragma unroll
                for (int c_X_round_9 = 0; c_X_round_9 < 2; ++c_X_round_9) {
                    __syncthreads();  // X_SM is filled
                    if (c_X_round_9 * 32 + tid < 36) {
                        const int c_X_9 = c_X_round_9 * 32 + tid;
                        X_SM[c_X_9 / 2 + c_X_9 % 2 * 19] = X_SM[456 + c_X_9 / 2 + c_X_9 % 2 * 19];
                    }
                }
                __syncthreads();  // X_SM has been read
                #pragma unroll
                for (int c_X_round_10 = 0; c_X_round_10 < 14; ++c_X_round_10) {
                    if (c_X_round_10 * 32 + tid < 432) {
                        const int c_X_10 = c_X_round_10 * 32 + tid;
                        cp_async_4_if(blk_j * 64 + c_X_10 % 24 + 50 < 70, &X_SM[38 + c_X_10 / 24 +
                                c_X_10 % 24 * 19], &X[i_2 * 1120 + blk_j * 64 + 50 + c_X_10 / 24 * 70 +
                                c_X_10 % 24]);
                    }
                }
                cp_async_commit();
                cp_async_wait<0>();
                // 3: (de-)comp( 4, 3 ) ( ^ ; ^ ) ( THR.y, THR.x )
                __syncthreads();  // X_SM is filled
                for (int i_4 = 0; i_4 < 4; ++i_4) {
                    for (int j_4 = 0; j_4 < 3; ++j_4) {
                        if (thr_j * 3 + j_4 + 48 < 64 && blk_j * 64 + thr_j * 3 + j_4 + 48 < 68)
                            Y[i_2 * 1088 + thr_i * 272 + i_4 * 68 + blk_j * 64 + thr_j * 3 + j_4 + 48] =
                                    X_SM[thr_j * 57 + j_4 * 19 + thr_i * 4 + i_4] + X_SM[thr_j * 57 +
                                    j_4 * 19 + thr_i * 4 + i_4 + 20] * X_SM[thr_j * 57 + j_4 * 19 +
                                    thr_i * 4 + i_4 + 2] + X_SM[thr_j * 57 + j_4 * 19 + thr_i * 4 + i_4 + 39];
                    }
                }
            }
        }
    }
}
