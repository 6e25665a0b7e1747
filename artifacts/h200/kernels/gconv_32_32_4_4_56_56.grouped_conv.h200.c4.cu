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

__device__ __forceinline__ void cp_async_16_if(bool take, void *dst, const void *src)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :: "r"((unsigned)__cvta_generic_to_shared(dst)), "l"(__cvta_generic_to_global(src)), "r"(take ? 16 : 0)
                 : "memory");
}

extern "C" __global__ void __launch_bounds__(189)
grouped_conv_kernel(const float *I, const float *weight, float *O)
{
    __shared__ __align__(16) float I_SM[3584];
    __shared__ __align__(16) float weight_SM[284];
    asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernels in front have ended
    const int tid = (int)threadIdx.y * 27 + (int)threadIdx.x;
    const int thr_p = threadIdx.y;
    const int thr_q = threadIdx.x;
    const int blk_n = blockIdx.x;
    const int blk_g = blockIdx.y;
    const int blk_p = blockIdx.z;
    if (blk_p < 3) {
        // whole tiles
        // 1: (de-)comp( 1, 1, ^, 14, ^, ^, ^, ^ ) ( ^, ^ ; ^ ) ( BLK.x, BLK.y, ^, BLK.z, ^, ^, ^, ^ )
        __align__(8) float O_RM[16] = {};
        // 2: (de-)comp( ^, ^, ^, ^, ^, ^, ^, ^ )
        //             ( I:SM[1,2,3,4,5]@copy(async), weight:SM[1,3,4,5,2]@pad(4) ; O:RM[1,2,3,4,5] )
        //             ( ^, ^, ^, ^, ^, ^, ^, ^ )
        #pragma unroll
        for (int c_I_round = 0; c_I_round < 5; ++c_I_round) {
            if (c_I_round * 189 + tid < 896) {
                const int c_I = c_I_round * 189 + tid;
                cp_async_16(&I_SM[c_I / 224 * 896 + c_I / 14 % 16 * 56 + c_I % 14 * 4], &I[blk_n * 401408 +
                        blk_g * 12544 + blk_p * 784 + c_I / 224 * 3136 + c_I / 14 % 16 * 56 + c_I % 14 * 4]);
            }
        }
        if (tid < 144)
            weight_SM[tid / 36 + tid / 9 % 4 * 72 + tid / 3 % 3 * 24 + tid % 3 * 8] = weight[blk_g * 144 +
                    tid / 36 * 36 + tid / 9 % 4 * 9 + tid / 3 % 3 * 3 + tid % 3];
        cp_async_commit();
        cp_async_wait<0>();
        // 3: (de-)comp( ^, ^, ^, 2, 2, ^, ^, ^ ) ( ^, ^ ; ^ ) ( ^, ^, ^, THR.y, THR.x, ^, ^, ^ )
        __syncthreads();  // I_SM is filled
        #pragma unroll
        for (int c_4 = 0; c_4 < 4; ++c_4) {
            // 4: (de-)comp( ^, ^, ^, ^, ^, 1, ^, ^ ) ( ^, ^ ; ^ ) ( ^, ^, ^, ^, ^, ^, ^, ^ ) @unroll
            #pragma unroll
            for (int r_5 = 0; r_5 < 3; ++r_5) {
                #pragma unroll
                for (int s_5 = 0; s_5 < 3; ++s_5) {
                    // 5: (de-)comp( ^, ^, ^, ^, ^, ^, 1, 1 )
                    //             ( I:RM[1,2,3,4,5], weight:RM[1,2,3,4,5] ; ^ )
                    //             ( ^, ^, ^, ^, ^, ^, ^, ^ ) @unroll
                    float I_RM[4];
                    #pragma unroll
                    for (int c_I3 = 0; c_I3 < 2; ++c_I3) {
                        #pragma unroll
                        for (int c_I4 = 0; c_I4 < 2; ++c_I4)
                            I_RM[c_I3 * 2 + c_I4] = I_SM[c_4 * 896 + thr_p * 112 + c_I3 * 56 + r_5 * 56 +
                                    thr_q * 2 + c_I4 + s_5];
                    }
                    __align__(16) float weight_RM[4];
                    *(float4 *)&weight_RM[0] = *(const float4 *)&weight_SM[c_4 * 72 + r_5 * 24 + s_5 * 8];
                    #pragma unroll
                    for (int f_6 = 0; f_6 < 4; ++f_6) {
                        #pragma unroll
                        for (int p_6 = 0; p_6 < 2; ++p_6) {
                            #pragma unroll
                            for (int q_6 = 0; q_6 < 2; ++q_6)
                                O_RM[f_6 * 4 + p_6 * 2 + q_6] += I_RM[p_6 * 2 + q_6] * weight_RM[f_6];
                        }
                    }
                }
            }
        }
        #pragma unroll
        for (int f_6 = 0; f_6 < 4; ++f_6) {
            #pragma unroll
            for (int p_6 = 0; p_6 < 2; ++p_6)
                *(float2 *)&O[blk_n * 373248 + blk_g * 11664 + f_6 * 2916 + blk_p * 756 + thr_p * 108 +
                        p_6 * 54 + thr_q * 2] = *(const float2 *)&O_RM[f_6 * 4 + p_6 * 2];
        }
    } else {
        // tiles cut by the edge
        // 1: (de-)comp( 1, 1, ^, 14, ^, ^, ^, ^ ) ( ^, ^ ; ^ ) ( BLK.x, BLK.y, ^, BLK.z, ^, ^, ^, ^ )
        __align__(8) float O_RM[16] = {};
        // 2: (de-)comp( ^, ^, ^, ^, ^, ^, ^, ^ )
        //             ( I:SM[1,2,3,4,5]@copy(async), weight:SM[1,3,4,5,2]@pad(4) ; O:RM[1,2,3,4,5] )
        //             ( ^, ^, ^, ^, ^, ^, ^, ^ )
        #pragma unroll
        for (int c_I_round_2 = 0; c_I_round_2 < 5; ++c_I_round_2) {
            if (c_I_round_2 * 189 + tid < 896) {
                const int c_I_2 = c_I_round_2 * 189 + tid;
                cp_async_16_if(blk_p * 14 + c_I_2 / 14 % 16 < 56, &I_SM[c_I_2 / 224 * 896 +
                        c_I_2 / 14 % 16 * 56 + c_I_2 % 14 * 4], &I[blk_n * 401408 + blk_g * 12544 +
                        blk_p * 784 + c_I_2 / 224 * 3136 + c_I_2 / 14 % 16 * 56 + c_I_2 % 14 * 4]);
            }
        }
        if (tid < 144)
            weight_SM[tid / 36 + tid / 9 % 4 * 72 + tid / 3 % 3 * 24 + tid % 3 * 8] = weight[blk_g * 144 +
                    tid / 36 * 36 + tid / 9 % 4 * 9 + tid / 3 % 3 * 3 + tid % 3];
        cp_async_commit();
        cp_async_wait<0>();
        // 3: (de-)comp( ^, ^, ^, 2, 2, ^, ^, ^ ) ( ^, ^ ; ^ ) ( ^, ^, ^, THR.y, THR.x, ^, ^, ^ )
        __syncthreads();  // I_SM is filled
        #pragma unroll
        for (int c_4 = 0; c_4 < 4; ++c_4) {
            // 4: (de-)comp( ^, ^, ^, ^, ^, 1, ^, ^ ) ( ^, ^ ; ^ ) ( ^, ^, ^, ^, ^, ^, ^, ^ ) @unroll
            #pragma unroll
            for (int r_5 = 0; r_5 < 3; ++r_5) {
                #pragma unroll
                for (int s_5 = 0; s_5 < 3; ++s_5) {
                    // 5: (de-)comp( ^, ^, ^, ^, ^, ^, 1, 1 )
                    //             ( I:RM[1,2,3,4,5], weight:RM[1,2,3,4,5] ; ^ )
                    //             ( ^, ^, ^, ^, ^, ^, ^, ^ ) @unroll
                    float I_RM_2[4];
                    #pragma unroll
                    for (int c_I3_2 = 0; c_I3_2 < 2; ++c_I3_2) {
                        #pragma unroll
                        for (int c_I4_2 = 0; c_I4_2 < 2; ++c_I4_2)
                            I_RM_2[c_I3_2 * 2 + c_I4_2] = I_SM[c_4 * 896 + thr_p * 112 + c_I3_2 * 56 +
                                    r_5 * 56 + thr_q * 2 + c_I4_2 + s_5];
                    }
                    __align__(16) float weight_RM_2[4];
                    *(float4 *)&weight_RM_2[0] = *(const float4 *)&weight_SM[c_4 * 72 + r_5 * 24 + s_5 * 8];
                    #pragma unroll
                    for (int f_6 = 0; f_6 < 4; ++f_6) {
                        #pragma unroll
                        for (int p_6 = 0; p_6 < 2; ++p_6) {
                            #pragma unroll
                            for (int q_6 = 0; q_6 < 2; ++q_6)
                                O_RM[f_6 * 4 + p_6 * 2 + q_6] += I_RM_2[p_6 * 2 + q_6] * weight_RM_2[f_6];
                        }
                    }
                }
            }
        }
        #pragma unroll
        for (int f_6 = 0; f_6 < 4; ++f_6) {
            #pragma unroll
            for (int p_6 = 0; p_6 < 2; ++p_6) {
                if (blk_p * 14 + thr_p * 2 + p_6 < 54)
                    *(float2 *)&O[blk_n * 373248 + blk_g * 11664 + f_6 * 2916 + blk_p * 756 + thr_p * 108 +
                            p_6 * 54 + thr_q * 2] = *(const float2 *)&O_RM[f_6 * 4 + p_6 * 2];
            }
        }
    }
}
