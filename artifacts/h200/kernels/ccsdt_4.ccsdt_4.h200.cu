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
ccsdt_4_kernel(const float *lhs, const float *rhs, float *X)
{
    __shared__ __align__(16) float lhs_SM[6144];
    __shared__ __align__(16) float rhs_SM[956];
    asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernels in front have ended
    const int tid = (int)threadIdx.y * 8 + (int)threadIdx.x;
    const int thr_e = threadIdx.y;
    const int thr_f = threadIdx.x;
    const int blk_a = blockIdx.z;
    const int blk_c = blockIdx.y;
    const int blk_d = blockIdx.x;
    // 1: (de-)comp( 1, ^, 2, 1, ^, ^, ^ ) ( ^, ^ ; ^ ) ( BLK.z, ^, BLK.y, BLK.x, ^, ^, ^ )
    __align__(8) float X_RM[64] = {};
    // 2: (de-)comp( ^, ^, ^, ^, ^, ^, ^ )
    //             ( lhs:SM[1,2,3,4]@copy(async), rhs:SM[3,1,4,2]@pad(4) ; X:RM[1,2,3,4,5,6] )
    //             ( ^, ^, ^, ^, ^, ^, FOR.1 )
    #pragma unroll
    for (int c_lhs_round = 0; c_lhs_round < 12; ++c_lhs_round)
        cp_async_16(&lhs_SM[c_lhs_round * 512 + tid / 64 * 256 + tid / 4 % 16 * 16 + tid % 4 * 4],
                &lhs[c_lhs_round * 12288 + blk_a * 16 + tid / 64 * 6144 + tid / 4 % 16 * 384 + tid % 4 * 4]);
    #pragma unroll
    for (int c_rhs_round = 0; c_rhs_round < 3; ++c_rhs_round) {
        const int c_rhs = c_rhs_round * 128 + tid;
        __align__(8) float rhs_row[2];
        *(float2 *)&rhs_row[0] = *(const float2 *)&rhs[blk_d * 6144 + blk_c * 2 + c_rhs / 24 * 384 +
                c_rhs % 24 * 16];
        #pragma unroll
        for (int lane = 0; lane < 2; ++lane)
            rhs_SM[lane * 20 + c_rhs / 24 + c_rhs % 24 * 40] = rhs_row[lane];
    }
    cp_async_commit();
    cp_async_wait<0>();
    // 3: (de-)comp( ^, ^, ^, ^, 1, 2, ^ ) ( ^, ^ ; ^ ) ( ^, ^, ^, ^, THR.y, THR.x, ^ )
    // 4: (de-)comp( ^, ^, ^, ^, ^, ^, 4 )
    //             ( ^, rhs:RM[1,2,3,4] ; ^ )
    //             ( ^, ^, ^, ^, ^, ^, FOR.1 ) @unroll @stages(3)
    float rhs_RM[48];
    __syncthreads();  // rhs_SM is filled
    #pragma unroll
    for (int c_rhs1 = 0; c_rhs1 < 2; ++c_rhs1) {
        #pragma unroll
        for (int c_rhs2 = 0; c_rhs2 < 4; ++c_rhs2) {
            #pragma unroll
            for (int c_rhs3 = 0; c_rhs3 < 2; ++c_rhs3)
                rhs_RM[c_rhs1 * 8 + c_rhs2 * 2 + c_rhs3] = rhs_SM[c_rhs2 * 40 + c_rhs3 * 20 + thr_f * 2 +
                        c_rhs1];
        }
    }
    #pragma unroll
    for (int c_rhs1_2 = 0; c_rhs1_2 < 2; ++c_rhs1_2) {
        #pragma unroll
        for (int c_rhs2_2 = 0; c_rhs2_2 < 4; ++c_rhs2_2) {
            #pragma unroll
            for (int c_rhs3_2 = 0; c_rhs3_2 < 2; ++c_rhs3_2)
                rhs_RM[c_rhs1_2 * 8 + c_rhs2_2 * 2 + c_rhs3_2 + 16] = rhs_SM[c_rhs2_2 * 40 + c_rhs3_2 * 20 +
                        thr_f * 2 + c_rhs1_2 + 160];
        }
    }
    #pragma unroll
    for (int g_4 = 0; g_4 < 6; ++g_4) {
        const int slot_g_4 = g_4 % 3;
        if (g_4 + 2 <= 5) {
            const int next_g_4 = g_4 + 2;
            const int fill = (slot_g_4 + 2) % 3;
            #pragma unroll
            for (int c_rhs1_3 = 0; c_rhs1_3 < 2; ++c_rhs1_3) {
                #pragma unroll
                for (int c_rhs2_3 = 0; c_rhs2_3 < 4; ++c_rhs2_3) {
                    #pragma unroll
                    for (int c_rhs3_3 = 0; c_rhs3_3 < 2; ++c_rhs3_3)
                        rhs_RM[fill * 16 + c_rhs1_3 * 8 + c_rhs2_3 * 2 + c_rhs3_3] = rhs_SM[next_g_4 * 160 +
                                c_rhs2_3 * 40 + c_rhs3_3 * 20 + thr_f * 2 + c_rhs1_3];
                }
            }
        }
        #pragma unroll
        for (int g_5 = 0; g_5 < 4; ++g_5) {
            #pragma unroll
            for (int b_5 = 0; b_5 < 16; ++b_5) {
                #pragma unroll
                for (int c_5 = 0; c_5 < 2; ++c_5) {
                    #pragma unroll
                    for (int f_5 = 0; f_5 < 2; ++f_5)
                        X_RM[b_5 * 4 + c_5 * 2 + f_5] += lhs_SM[g_4 * 1024 + g_5 * 256 + thr_e * 16 +
                                b_5] * rhs_RM[slot_g_4 * 16 + f_5 * 8 + g_5 * 2 + c_5];
                }
            }
        }
    }
    #pragma unroll
    for (int b_5 = 0; b_5 < 16; ++b_5) {
        #pragma unroll
        for (int c_5 = 0; c_5 < 2; ++c_5)
            *(float2 *)&X[blk_a * 1572864 + b_5 * 98304 + blk_c * 12288 + c_5 * 6144 + blk_d * 256 +
                    thr_e * 16 + thr_f * 2] = *(const float2 *)&X_RM[b_5 * 4 + c_5 * 2];
    }
}
