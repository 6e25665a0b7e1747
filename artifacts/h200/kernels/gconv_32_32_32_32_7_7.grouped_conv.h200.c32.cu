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

extern "C" __global__ void __launch_bounds__(320)
grouped_conv_kernel(const float *I, const float *weight, float *O)
{
    __shared__ __align__(16) float I_SM[3136];
    __shared__ __align__(16) float weight_SM[2588];
    asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernels in front have ended
    const int tid = (int)threadIdx.z * 40 + ((int)threadIdx.y * 5 + (int)threadIdx.x);
    const int thr_n = threadIdx.z;
    const int thr_f = threadIdx.y;
    const int thr_q = threadIdx.x;
    const int blk_n = blockIdx.y;
    const int blk_g = blockIdx.x;
    // 1: (de-)comp( 8, 1, ^, ^, ^, ^, ^, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^, ^, ^, ^, ^, ^ )
    float O_RM[20] = {};
    for (int c_2 = 0; c_2 < 4; ++c_2) {
        // 2: (de-)comp( ^, ^, ^, ^, ^, 8, ^, ^ )
        //             ( I:SM[1,2,3,4,5]@copy(async), weight:SM[1,3,4,5,2]@pad(4) ; O:RM[1,2,3,4,5] )
        //             ( ^, ^, ^, ^, ^, ^, ^, ^ )
        __syncthreads();  // I_SM has been read
        #pragma unroll
        for (int c_I_round = 0; c_I_round < 10; ++c_I_round) {
            if (c_I_round * 320 + tid < 3136) {
                const int c_I = c_I_round * 320 + tid;
                cp_async_4(&I_SM[c_I / 392 * 392 + c_I / 49 % 8 * 49 + c_I / 7 % 7 * 7 + c_I % 7],
                        &I[blk_n * 401408 + blk_g * 1568 + c_2 * 392 + c_I / 392 * 50176 +
                        c_I / 49 % 8 * 49 + c_I / 7 % 7 * 7 + c_I % 7]);
            }
        }
        #pragma unroll
        for (int c_weight_round = 0; c_weight_round < 8; ++c_weight_round) {
            if (c_weight_round * 320 + tid < 2304) {
                const int c_weight = c_weight_round * 320 + tid;
                weight_SM[c_weight / 72 + c_weight / 9 % 8 * 324 + c_weight / 3 % 3 * 108 +
                        c_weight % 3 * 36] = weight[blk_g * 9216 + c_2 * 72 + c_weight / 72 * 288 +
                        c_weight / 9 % 8 * 9 + c_weight / 3 % 3 * 3 + c_weight % 3];
            }
        }
        cp_async_commit();
        cp_async_wait<0>();
        // 3: (de-)comp( 1, ^, 4, ^, 1, ^, ^, ^ ) ( ^, ^ ; ^ ) ( THR.z, ^, THR.y, ^, THR.x, ^, ^, ^ )
        __syncthreads();  // I_SM is filled
        #pragma unroll
        for (int c_4 = 0; c_4 < 8; ++c_4) {
            // 4: (de-)comp( ^, ^, ^, ^, ^, 1, ^, ^ ) ( ^, ^ ; ^ ) ( ^, ^, ^, ^, ^, ^, ^, ^ ) @unroll
            #pragma unroll
            for (int s_5 = 0; s_5 < 3; ++s_5) {
                // 5: (de-)comp( ^, ^, ^, ^, ^, ^, ^, 1 )
                //             ( I:RM[1,2,3,4,5], weight:RM[1,2,3,4,5] ; ^ )
                //             ( ^, ^, ^, ^, ^, ^, ^, ^ ) @unroll
                float I_RM[7];
                #pragma unroll
                for (int c_I3 = 0; c_I3 < 7; ++c_I3)
                    I_RM[c_I3] = I_SM[thr_n * 392 + c_4 * 49 + c_I3 * 7 + s_5 + thr_q];
                float weight_RM[12];
                #pragma unroll
                for (int c_weight1 = 0; c_weight1 < 4; ++c_weight1) {
                    #pragma unroll
                    for (int c_weight3 = 0; c_weight3 < 3; ++c_weight3)
                        weight_RM[c_weight1 * 3 + c_weight3] = weight_SM[c_4 * 324 + c_weight3 * 108 +
                                s_5 * 36 + thr_f * 4 + c_weight1];
                }
                #pragma unroll
                for (int f_6 = 0; f_6 < 4; ++f_6) {
                    #pragma unroll
                    for (int p_6 = 0; p_6 < 5; ++p_6) {
                        #pragma unroll
                        for (int r_6 = 0; r_6 < 3; ++r_6)
                            O_RM[f_6 * 5 + p_6] += I_RM[p_6 + r_6] * weight_RM[f_6 * 3 + r_6];
                    }
                }
            }
        }
    }
    #pragma unroll
    for (int f_6 = 0; f_6 < 4; ++f_6) {
        #pragma unroll
        for (int p_6 = 0; p_6 < 5; ++p_6)
            O[blk_n * 204800 + thr_n * 25600 + blk_g * 800 + thr_f * 100 + f_6 * 25 + p_6 * 5 + thr_q] =
                    O_RM[f_6 * 5 + p_6];
    }
}
