extern "C" __global__ void __launch_bounds__(128, 3)
ccsdt_5_kernel(const float *lhs, const float *rhs, float *X)
{
    __shared__ __align__(16) float lhs_SM[6144];
    __shared__ __align__(16) float rhs_SM[1726];
    asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernels in front have ended
    const int tid = (int)threadIdx.z * 64 + ((int)threadIdx.y * 4 + (int)threadIdx.x);
    const int thr_b = threadIdx.z;
    const int thr_e = threadIdx.y;
    const int thr_f = threadIdx.x;
    const int blk_a = blockIdx.z;
    const int blk_b = blockIdx.y;
    const int blk_d = blockIdx.x;
    // 1: (de-)comp( 1, 4, ^, 1, ^, ^, ^ ) ( ^, ^ ; ^ ) ( BLK.z, BLK.y, ^, BLK.x, ^, ^, ^ ) @occupancy(3)
    __align__(16) float X_RM[128] = {};
    // 2: (de-)comp( ^, ^, ^, ^, ^, ^, ^ )
    //             ( lhs:SM[1,2,3,4], rhs:SM[4,3,1,2]@pad(2) ; X:RM[1,2,3,4,5,6] )
    //             ( ^, ^, ^, ^, ^, ^, FOR.1 )
    #pragma unroll
    for (int c_lhs_round = 0; c_lhs_round < 12; ++c_lhs_round)
        *(float4 *)&lhs_SM[c_lhs_round * 512 + tid / 64 * 256 + tid / 4 % 16 * 16 + tid % 4 * 4] =
                *(const float4 *)&lhs[c_lhs_round * 12288 + blk_a * 16 + tid / 64 * 6144 +
                tid / 4 % 16 * 384 + tid % 4 * 4];
    #pragma unroll
    for (int c_rhs_round = 0; c_rhs_round < 3; ++c_rhs_round) {
        const int c_rhs = c_rhs_round * 128 + tid;
        __align__(16) float rhs_row[4];
        *(float4 *)&rhs_row[0] = *(const float4 *)&rhs[blk_d * 6144 + blk_b * 4 + c_rhs / 24 * 384 +
                c_rhs % 24 * 16];
        #pragma unroll
        for (int lane = 0; lane < 4; ++lane)
            rhs_SM[lane * 432 + c_rhs / 24 + c_rhs % 24 * 18] = rhs_row[lane];
    }
    // 3: (de-)comp( ^, 2, ^, ^, 1, 4, ^ ) ( ^, ^ ; ^ ) ( ^, THR.z, ^, ^, THR.y, THR.x, ^ )
    // 4: (de-)comp( ^, ^, ^, ^, ^, ^, 2 )
    //             ( lhs:RM[1,2,3,4], rhs:RM[1,2,3,4] ; ^ )
    //             ( ^, ^, ^, ^, ^, ^, FOR.1 ) @unroll @stages(2)
    __align__(16) float lhs_RM[64];
    float rhs_RM[32];
    __syncthreads();  // lhs_SM is filled
    #pragma unroll
    for (int c_lhs0 = 0; c_lhs0 < 2; ++c_lhs0) {
        #pragma unroll
        for (int c_lhs3 = 0; c_lhs3 < 16; c_lhs3 += 4)
            *(float4 *)&lhs_RM[c_lhs0 * 16 + c_lhs3] = *(const float4 *)&lhs_SM[c_lhs0 * 256 + thr_e * 16 +
                    c_lhs3];
    }
    #pragma unroll
    for (int c_rhs1 = 0; c_rhs1 < 4; ++c_rhs1) {
        #pragma unroll
        for (int c_rhs2 = 0; c_rhs2 < 2; ++c_rhs2) {
            #pragma unroll
            for (int c_rhs3 = 0; c_rhs3 < 2; ++c_rhs3)
                rhs_RM[c_rhs1 * 4 + c_rhs2 * 2 + c_rhs3] = rhs_SM[thr_b * 864 + c_rhs3 * 432 + c_rhs2 * 18 +
                        thr_f * 4 + c_rhs1];
        }
    }
    #pragma unroll
    for (int g_4 = 0; g_4 < 12; ++g_4) {
        const int slot_g_4 = g_4 % 2;
        if (g_4 + 1 <= 11) {
            const int next_g_4 = g_4 + 1;
            const int fill = (slot_g_4 + 1) % 2;
            #pragma unroll
            for (int c_lhs0_2 = 0; c_lhs0_2 < 2; ++c_lhs0_2) {
                #pragma unroll
                for (int c_lhs3_2 = 0; c_lhs3_2 < 16; c_lhs3_2 += 4)
                    *(float4 *)&lhs_RM[fill * 32 + c_lhs0_2 * 16 + c_lhs3_2] =
                            *(const float4 *)&lhs_SM[next_g_4 * 512 + c_lhs0_2 * 256 + thr_e * 16 + c_lhs3_2];
            }
            #pragma unroll
            for (int c_rhs1_2 = 0; c_rhs1_2 < 4; ++c_rhs1_2) {
                #pragma unroll
                for (int c_rhs2_2 = 0; c_rhs2_2 < 2; ++c_rhs2_2) {
                    #pragma unroll
                    for (int c_rhs3_2 = 0; c_rhs3_2 < 2; ++c_rhs3_2)
                        rhs_RM[fill * 16 + c_rhs1_2 * 4 + c_rhs2_2 * 2 + c_rhs3_2] = rhs_SM[thr_b * 864 +
                                c_rhs3_2 * 432 + next_g_4 * 36 + c_rhs2_2 * 18 + thr_f * 4 + c_rhs1_2];
                }
            }
        }
        #pragma unroll
        for (int g_5 = 0; g_5 < 2; ++g_5) {
            #pragma unroll
            for (int b_5 = 0; b_5 < 2; ++b_5) {
                #pragma unroll
                for (int c_5 = 0; c_5 < 16; ++c_5) {
                    #pragma unroll
                    for (int f_5 = 0; f_5 < 4; ++f_5)
                        X_RM[b_5 * 64 + c_5 * 4 + f_5] += lhs_RM[slot_g_4 * 32 + g_5 * 16 +
                                c_5] * rhs_RM[slot_g_4 * 16 + f_5 * 4 + g_5 * 2 + b_5];
                }
            }
        }
    }
    #pragma unroll
    for (int b_5 = 0; b_5 < 2; ++b_5) {
        #pragma unroll
        for (int c_5 = 0; c_5 < 16; ++c_5)
            *(float4 *)&X[blk_a * 1572864 + blk_b * 393216 + thr_b * 196608 + b_5 * 98304 + c_5 * 6144 +
                    blk_d * 256 + thr_e * 16 + thr_f * 4] = *(const float4 *)&X_RM[b_5 * 64 + c_5 * 4];
    }
}
