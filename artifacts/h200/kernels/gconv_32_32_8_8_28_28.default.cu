__device__ __forceinline__ void cp_async_16(void *dst, const void *src)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
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

extern "C" __global__ void __launch_bounds__(156)
grouped_conv_kernel(const float *I, const float *weight, float *O)
{
    __shared__ __align__(16) float I_SM[1596];
    __shared__ __align__(16) float weight_SM[212];
    asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernels in front have ended
    const int tid = (int)threadIdx.z * 39 + ((int)threadIdx.y * 13 + (int)threadIdx.x);
    const int thr_f = threadIdx.z;
    const int thr_p = threadIdx.y;
    const int thr_q = threadIdx.x;
    const int blk_n = blockIdx.x;
    const int blk_g = blockIdx.y;
    if (tid < 28)
        I_SM[tid + 1568] = 0.0f;
    // 1: (de-)comp( 1, 1, ^, ^, ^, ^, ^, ^ ) ( ^, ^ ; ^ ) ( BLK.x, BLK.y, ^, ^, ^, ^, ^, ^ )
    __align__(8) float O_RM[36] = {};
    __syncthreads();  // I_SM is filled
    for (int c_2 = 0; c_2 < 4; ++c_2) {
        // 2: (de-)comp( ^, ^, ^, ^, ^, 2, ^, ^ )
        //             ( I:SM[1,2,3,4,5]@copy(async), weight:SM[1,3,4,5,2]@pad(4) ; O:RM[1,2,3,4,5] )
        //             ( ^, ^, ^, ^, ^, ^, ^, ^ )
        __syncthreads();  // I_SM has been read
        #pragma unroll
        for (int c_I_round = 0; c_I_round < 3; ++c_I_round) {
            if (c_I_round * 156 + tid < 392) {
                const int c_I = c_I_round * 156 + tid;
                cp_async_16(&I_SM[c_I / 196 * 784 + c_I / 7 % 28 * 28 + c_I % 7 * 4], &I[blk_n * 200704 +
                        blk_g * 6272 + c_2 * 1568 + c_I / 196 * 784 + c_I / 7 % 28 * 28 + c_I % 7 * 4]);
            }
        }
        if (tid < 144)
            weight_SM[tid / 18 + tid / 9 % 2 * 108 + tid / 3 % 3 * 36 + tid % 3 * 12] = weight[blk_g * 576 +
                    c_2 * 18 + tid / 18 * 72 + tid / 9 % 2 * 9 + tid / 3 % 3 * 3 + tid % 3];
        cp_async_commit();
        cp_async_wait<0>();
        // 3: (de-)comp( ^, ^, 2, 9, 2, ^, ^, ^ ) ( ^, ^ ; ^ ) ( ^, ^, THR.z, THR.y, THR.x, ^, ^, ^ )
        __syncthreads();  // I_SM is filled
        #pragma unroll
        for (int c_4 = 0; c_4 < 2; ++c_4) {
            // 4: (de-)comp( ^, ^, ^, ^, ^, 1, ^, ^ ) ( ^, ^ ; ^ ) ( ^, ^, ^, ^, ^, ^, ^, ^ ) @unroll
            #pragma unroll
            for (int r_5 = 0; r_5 < 3; ++r_5) {
                #pragma unroll
                for (int s_5 = 0; s_5 < 3; ++s_5) {
                    // 5: (de-)comp( ^, ^, ^, ^, ^, ^, 1, 1 )
                    //             ( I:RM[1,2,3,4,5], weight:RM[1,2,3,4,5] ; ^ )
                    //             ( ^, ^, ^, ^, ^, ^, ^, ^ ) @unroll
                    float I_RM[18];
                    #pragma unroll
                    for (int c_I3 = 0; c_I3 < 9; ++c_I3) {
                        #pragma unroll
                        for (int c_I4 = 0; c_I4 < 2; ++c_I4)
                            I_RM[c_I3 * 2 + c_I4] = I_SM[c_4 * 784 + thr_p * 252 + c_I3 * 28 + r_5 * 28 +
                                    thr_q * 2 + c_I4 + s_5];
                    }
                    __align__(8) float weight_RM[2];
                    *(float2 *)&weight_RM[0] = *(const float2 *)&weight_SM[c_4 * 108 + r_5 * 36 + s_5 * 12 +
                            thr_f * 2];
                    #pragma unroll
                    for (int f_6 = 0; f_6 < 2; ++f_6) {
                        #pragma unroll
                        for (int p_6 = 0; p_6 < 9; ++p_6) {
                            #pragma unroll
                            for (int q_6 = 0; q_6 < 2; ++q_6)
                                O_RM[f_6 * 18 + p_6 * 2 + q_6] += I_RM[p_6 * 2 + q_6] * weight_RM[f_6];
                        }
                    }
                }
            }
        }
    }
    #pragma unroll
    for (int f_6 = 0; f_6 < 2; ++f_6) {
        #pragma unroll
        for (int p_6 = 0; p_6 < 9; ++p_6) {
            if (thr_p * 9 + p_6 < 26)
                *(float2 *)&O[blk_n * 173056 + blk_g * 5408 + thr_f * 1352 + f_6 * 676 + thr_p * 234 +
                        p_6 * 26 + thr_q * 2] = *(const float2 *)&O_RM[f_6 * 18 + p_6 * 2];
        }
    }
}
