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

extern "C" __global__ void __launch_bounds__(128)
conv2d_kernel(const float *I, const float *F, float *O)
{
    __shared__ __align__(16) float I_SM[777];
    __shared__ __align__(16) float F_SM[784];
    asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernels in front have ended
    const int tid = (int)threadIdx.z * 32 + ((int)threadIdx.y * 4 + (int)threadIdx.x);
    const int thr_p = threadIdx.z;
    const int thr_q = threadIdx.y;
    const int thr_k = threadIdx.x;
    const int blk_p = blockIdx.z;
    const int blk_q = blockIdx.y;
    const int blk_k = blockIdx.x;
    // 1: (de-)comp( ^, 16, 8, 16, ^, ^, ^ ) ( ^, ^ ; ^ ) ( ^, BLK.z, BLK.y, BLK.x, ^, ^, ^ )
    __align__(16) float O_RM[16] = {};
    for (int c_2 = 0; c_2 < 3; ++c_2) {
        // 2: (de-)comp( ^, ^, ^, ^, ^, ^, 1 )
        //             ( I:SM[1,2,3,4]@copy(async), F:SM[1,2,3,4]@copy(async) ; O:RM[1,2,3,4] )
        //             ( ^, ^, ^, ^, ^, ^, ^ )
        __syncthreads();  // I_SM has been read
        #pragma unroll
        for (int c_I_round = 0; c_I_round < 7; ++c_I_round) {
            if (c_I_round * 128 + tid < 777) {
                const int c_I = c_I_round * 128 + tid;
                cp_async_4(&I_SM[c_I / 21 * 21 + c_I % 21], &I[blk_p * 22080 + blk_q * 48 + c_2 +
                        c_I / 21 * 690 + c_I % 21 * 3]);
            }
        }
        #pragma unroll
        for (int c_F_round = 0; c_F_round < 7; ++c_F_round) {
            if (c_F_round * 128 + tid < 784) {
                const int c_F = c_F_round * 128 + tid;
                cp_async_4(&F_SM[c_F / 49 * 49 + c_F / 7 % 7 * 7 + c_F % 7], &F[blk_k * 2352 + c_2 +
                        c_F / 49 * 147 + c_F / 7 % 7 * 21 + c_F % 7 * 3]);
            }
        }
        cp_async_commit();
        cp_async_wait<0>();
        // 3: (de-)comp( ^, 4, 1, 4, ^, ^, ^ ) ( ^, ^ ; ^ ) ( ^, THR.z, THR.y, THR.x, ^, ^, ^ )
        __syncthreads();  // F_SM is filled
        #pragma unroll
        for (int r_4 = 0; r_4 < 7; ++r_4) {
            #pragma unroll
            for (int s_4 = 0; s_4 < 7; ++s_4) {
                // 4: (de-)comp( ^, ^, ^, ^, 1, 1, ^ )
                //             ( I:RM[1,2,3,4], F:RM[1,2,3,4] ; ^ )
                //             ( ^, ^, ^, ^, ^, ^, ^ ) @unroll
                float I_RM[4];
                #pragma unroll
                for (int c_I1 = 0; c_I1 < 4; ++c_I1)
                    I_RM[c_I1] = I_SM[thr_p * 168 + c_I1 * 42 + r_4 * 21 + thr_q * 2 + s_4];
                float F_RM[4];
                #pragma unroll
                for (int c_F0 = 0; c_F0 < 4; ++c_F0)
                    F_RM[c_F0] = F_SM[thr_k * 196 + c_F0 * 49 + r_4 * 7 + s_4];
                #pragma unroll
                for (int p_5 = 0; p_5 < 4; ++p_5) {
                    #pragma unroll
                    for (int k_5 = 0; k_5 < 4; ++k_5)
                        O_RM[p_5 * 4 + k_5] += I_RM[p_5] * F_RM[k_5];
                }
            }
        }
    }
    #pragma unroll
    for (int p_5 = 0; p_5 < 4; ++p_5)
        *(float4 *)&O[blk_p * 114688 + thr_p * 28672 + p_5 * 7168 + blk_q * 512 + thr_q * 64 + blk_k * 16 +
                thr_k * 4] = *(const float4 *)&O_RM[p_5 * 4];
}
