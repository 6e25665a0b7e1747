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

extern "C" __global__ void __launch_bounds__(128, 2)
ccsdt_3_kernel(const float *lhs, const float *rhs, float *X)
{
    __shared__ __align__(16) float lhs_SM[6144];
    __shared__ __align__(16) float rhs_SM[956];
    asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernels in front have ended
    const int tid = (int)threadIdx.y * 8 + (int)threadIdx.x;
    const int thr_b = threadIdx.y;
    const int thr_f = threadIdx.x;
    const int blk_a = blockIdx.z;
    const int blk_d = blockIdx.y;
    const int blk_e = blockIdx.x;
    // 1: (de-)comp( 2, ^, ^, 1, 1, ^, ^ ) ( ^, ^ ; ^ ) ( BLK.z, ^, ^, BLK.y, BLK.x, ^, ^ ) @occupancy(2)
    __align__(8) float X_RM[64] = {};
    // 2: (de-)comp( ^, ^, ^, ^, ^, ^, ^ )
    //             ( lhs:SM[1,2,3,4]@copy(async), rhs:SM[1,3,4,2]@pad(4) ; X:RM[1,2,3,4,5,6] )
    //             ( ^, ^, ^, ^, ^, ^, FOR.1 )
    #pragma unroll
    for (int c_lhs_round = 0; c_lhs_round < 12; ++c_lhs_round)
        cp_async_16(&lhs_SM[c_lhs_round * 512 + tid / 64 * 256 + tid / 4 % 16 * 16 + tid % 4 * 4],
                &lhs[c_lhs_round * 8192 + blk_d * 256 + tid / 64 * 4096 + tid / 4 % 16 * 16 + tid % 4 * 4]);
    #pragma unroll
    for (int c_rhs_round = 0; c_rhs_round < 3; ++c_rhs_round) {
        const int c_rhs = c_rhs_round * 128 + tid;
        __align__(8) float rhs_row[2];
        *(float2 *)&rhs_row[0] = *(const float2 *)&rhs[blk_e * 9216 + blk_a * 2 + c_rhs / 24 * 576 +
                c_rhs % 24 * 24];
        #pragma unroll
        for (int lane = 0; lane < 2; ++lane)
            rhs_SM[lane * 20 + c_rhs / 24 + c_rhs % 24 * 40] = rhs_row[lane];
    }
    cp_async_commit();
    cp_async_wait<0>();
    // 3: (de-)comp( ^, 1, ^, ^, ^, 2, ^ ) ( ^, ^ ; ^ ) ( ^, THR.y, ^, ^, ^, THR.x, ^ )
    __syncthreads();  // lhs_SM is filled
    #pragma unroll
    for (int g_4 = 0; g_4 < 24; ++g_4) {
        // 4: (de-)comp( ^, ^, ^, ^, ^, ^, 1 )
        //             ( lhs:RM[1,2,3,4], rhs:RM[1,2,3,4] ; ^ )
        //             ( ^, ^, ^, ^, ^, ^, FOR.1 ) @unroll
        __align__(16) float lhs_RM[16];
        #pragma unroll
        for (int c_lhs3 = 0; c_lhs3 < 16; c_lhs3 += 4)
            *(float4 *)&lhs_RM[c_lhs3] = *(const float4 *)&lhs_SM[g_4 * 256 + thr_b * 16 + c_lhs3];
        float rhs_RM[4];
        #pragma unroll
        for (int c_rhs1 = 0; c_rhs1 < 2; ++c_rhs1) {
            #pragma unroll
            for (int c_rhs3 = 0; c_rhs3 < 2; ++c_rhs3)
                rhs_RM[c_rhs1 * 2 + c_rhs3] = rhs_SM[g_4 * 40 + c_rhs3 * 20 + thr_f * 2 + c_rhs1];
        }
        #pragma unroll
        for (int a_5 = 0; a_5 < 2; ++a_5) {
            #pragma unroll
            for (int c_5 = 0; c_5 < 16; ++c_5) {
                #pragma unroll
                for (int f_5 = 0; f_5 < 2; ++f_5)
                    X_RM[a_5 * 32 + c_5 * 2 + f_5] += lhs_RM[c_5] * rhs_RM[f_5 * 2 + a_5];
            }
        }
    }
    #pragma unroll
    for (int a_5 = 0; a_5 < 2; ++a_5) {
        #pragma unroll
        for (int c_5 = 0; c_5 < 16; ++c_5)
            *(float2 *)&X[blk_a * 3145728 + a_5 * 1572864 + thr_b * 98304 + c_5 * 6144 + blk_d * 384 +
                    blk_e * 16 + thr_f * 2] = *(const float2 *)&X_RM[a_5 * 32 + c_5 * 2];
    }
}
