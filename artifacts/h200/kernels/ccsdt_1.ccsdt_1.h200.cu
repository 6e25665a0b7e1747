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

extern "C" __global__ void __launch_bounds__(128)
ccsdt_1_kernel(const float *lhs, const float *rhs, float *X)
{
    __shared__ __align__(16) float lhs_SM[6144];
    __shared__ __align__(16) float rhs_SM[956];
    asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernels in front have ended
    const int tid = (int)threadIdx.z * 8 + ((int)threadIdx.y * 4 + (int)threadIdx.x);
    const int thr_d = threadIdx.z;
    const int thr_e = threadIdx.y;
    const int thr_f = threadIdx.x;
    const int blk_a = blockIdx.z;
    const int blk_c = blockIdx.y;
    const int blk_e = blockIdx.x;
    // 1: (de-)comp( 1, ^, 1, ^, 2, ^, ^ ) ( ^, ^ ; ^ ) ( BLK.z, ^, BLK.y, ^, BLK.x, ^, ^ )
    __align__(16) float X_RM[64] = {};
    // 2: (de-)comp( ^, ^, ^, ^, ^, ^, ^ )
    //             ( lhs:SM[1,2,3,4]@copy(async), rhs:SM[1,3,4,2]@pad(4) ; X:RM[1,2,3,4,5,6] )
    //             ( ^, ^, ^, ^, ^, ^, FOR.1 )
    #pragma unroll
    for (int c_lhs_round = 0; c_lhs_round < 12; ++c_lhs_round)
        cp_async_16(&lhs_SM[c_lhs_round * 512 + tid / 64 * 256 + tid / 4 % 16 * 16 + tid % 4 * 4],
                &lhs[c_lhs_round * 12288 + blk_a * 16 + tid / 64 * 6144 + tid / 4 % 16 * 384 + tid % 4 * 4]);
    #pragma unroll
    for (int c_rhs_round = 0; c_rhs_round < 6; ++c_rhs_round) {
        const int c_rhs = c_rhs_round * 128 + tid;
        rhs_SM[c_rhs / 384 * 480 + c_rhs / 24 % 16 + c_rhs % 24 * 20] = rhs[blk_e * 12288 + blk_c +
                c_rhs / 384 * 6144 + c_rhs / 24 % 16 * 384 + c_rhs % 24 * 16];
    }
    cp_async_commit();
    cp_async_wait<0>();
    // 3: (de-)comp( ^, ^, ^, 1, 1, 4, ^ ) ( ^, ^ ; ^ ) ( ^, ^, ^, THR.z, THR.y, THR.x, ^ )
    __syncthreads();  // lhs_SM is filled
    #pragma unroll
    for (int g_4 = 0; g_4 < 8; ++g_4) {
        #pragma unroll
        for (int f_4 = 0; f_4 < 4; ++f_4) {
            // 4: (de-)comp( ^, ^, ^, ^, ^, 1, 3 )
            //             ( lhs:RM[1,2,3,4], ^ ; ^ )
            //             ( ^, ^, ^, ^, ^, ^, FOR.1 ) @unroll
            __align__(16) float lhs_RM[48];
            #pragma unroll
            for (int c_lhs0 = 0; c_lhs0 < 3; ++c_lhs0) {
                #pragma unroll
                for (int c_lhs3 = 0; c_lhs3 < 16; c_lhs3 += 4)
                    *(float4 *)&lhs_RM[c_lhs0 * 16 + c_lhs3] = *(const float4 *)&lhs_SM[g_4 * 768 +
                            c_lhs0 * 256 + thr_d * 16 + c_lhs3];
            }
            #pragma unroll
            for (int g_5 = 0; g_5 < 3; ++g_5) {
                #pragma unroll
                for (int b_5 = 0; b_5 < 16; ++b_5)
                    X_RM[b_5 * 4 + f_4] += lhs_RM[g_5 * 16 + b_5] * rhs_SM[thr_e * 480 + g_4 * 60 +
                            g_5 * 20 + thr_f * 4 + f_4];
            }
        }
    }
    #pragma unroll
    for (int b_5 = 0; b_5 < 16; ++b_5)
        *(float4 *)&X[blk_a * 1572864 + b_5 * 98304 + blk_c * 6144 + thr_d * 384 + blk_e * 32 + thr_e * 16 +
                thr_f * 4] = *(const float4 *)&X_RM[b_5 * 4];
}
