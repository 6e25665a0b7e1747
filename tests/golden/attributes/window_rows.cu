extern "C" __global__ void __launch_bounds__(16)
stencil_kernel(const float *__restrict__ X, float *__restrict__ Y)
{
    __shared__ __align__(16) float X_SM[54];
    const int tid = threadIdx.x;
    const int thr_j = threadIdx.x;
    const int blk_i = blockIdx.y;
    const int blk_j = blockIdx.x;
    if (blk_i < 2 && blk_j < 4) {
        // whole tiles
        // 1: (de-)comp( 20, 16 ) ( ^ ; ^ ) ( BLK.y, BLK.x )
        for (int i_2 = 0; i_2 < 20; ++i_2) {
            // 2: (de-)comp( 1, ^ ) ( X:SM[1,2]@window ; ^ ) ( FOR.1, ^ )
            if (i_2 == 0) {
                __syncthreads();  // X_SM has been read
                #pragma unroll
                for (int c_X_round_4 = 0; c_X_round_4 < 2; ++c_X_round_4) {
                    if (c_X_round_4 * 16 + tid < 27) {
                        const int c_X = c_X_round_4 * 16 + tid;
                        *(float2 *)&X_SM[c_X / 9 * 18 + c_X % 9 * 2] = *(const float2 *)&X[blk_i * 1400 +
                                i_2 * 70 + blk_j * 16 + c_X / 9 * 70 + c_X % 9 * 2];
                    }
                }
            } else {
                __syncthreads();  // X_SM has been read
                if (tid < 9)
                    *(float2 *)&X_SM[tid * 2] = *(const float2 *)&X_SM[tid * 2 + 18];
                __syncthreads();  // X_SM is filled
                if (tid < 9)
                    *(float2 *)&X_SM[tid * 2 + 18] = *(const float2 *)&X_SM[tid * 2 + 36];
                __syncthreads();  // X_SM has been read
                if (tid < 9)
                    *(float2 *)&X_SM[tid * 2 + 36] = *(const float2 *)&X[blk_i * 1400 + i_2 * 70 +
                            blk_j * 16 + tid * 2 + 140];
            }
            // 3: (de-)comp( ^, 1 ) ( ^ ; ^ ) ( ^, THR.x )
            __syncthreads();  // X_SM is filled
            Y[blk_i * 1360 + i_2 * 68 + blk_j * 16 + thr_j] = X_SM[thr_j] + X_SM[thr_j + 19] * X_SM[thr_j +
                    36] + X_SM[thr_j + 20];
        }
    } else {
        // tiles cut by the edge
        // 1: (de-)comp( 20, 16 ) ( ^ ; ^ ) ( BLK.y, BLK.x )
        for (int i_2 = 0; i_2 < 20; ++i_2) {
            // 2: (de-)comp( 1, ^ ) ( X:SM[1,2]@window ; ^ ) ( FOR.1, ^ )
            if (i_2 == 0) {
                __syncthreads();  // X_SM has been read
                #pragma unroll
                for (int c_X_round_8 = 0; c_X_round_8 < 2; ++c_X_round_8) {
                    if (c_X_round_8 * 16 + tid < 27) {
                        const int c_X_2 = c_X_round_8 * 16 + tid;
                        *(float2 *)&X_SM[c_X_2 / 9 * 18 + c_X_2 % 9 * 2] = blk_i * 20 + c_X_2 / 9 +
                                i_2 < 50 && blk_j * 16 + c_X_2 % 9 * 2 < 70 ?
                                *(const float2 *)&X[blk_i * 1400 + i_2 * 70 + blk_j * 16 + c_X_2 / 9 * 70 +
                                c_X_2 % 9 * 2] : make_float2(0.0f, 0.0f);
                    }
                }
            } else {
                __syncthreads();  // X_SM has been read
                if (tid < 9)
                    *(float2 *)&X_SM[tid * 2] = *(const float2 *)&X_SM[tid * 2 + 18];
                __syncthreads();  // X_SM is filled
                if (tid < 9)
                    *(float2 *)&X_SM[tid * 2 + 18] = *(const float2 *)&X_SM[tid * 2 + 36];
                __syncthreads();  // X_SM has been read
                if (tid < 9)
                    *(float2 *)&X_SM[tid * 2 + 36] = blk_i * 20 + i_2 + 2 < 50 && blk_j * 16 + tid * 2 < 70 ?
                            *(const float2 *)&X[blk_i * 1400 + i_2 * 70 + blk_j * 16 + tid * 2 + 140] :
                            make_float2(0.0f, 0.0f);
            }
            // 3: (de-)comp( ^, 1 ) ( ^ ; ^ ) ( ^, THR.x )
            __syncthreads();  // X_SM is filled
            if (blk_i * 20 + i_2 < 48 && blk_j * 16 + thr_j < 68)
                Y[blk_i * 1360 + i_2 * 68 + blk_j * 16 + thr_j] = X_SM[thr_j] + X_SM[thr_j +
                        19] * X_SM[thr_j + 36] + X_SM[thr_j + 20];
        }
    }
}
