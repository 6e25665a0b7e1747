extern "C" __global__ void __launch_bounds__(128)
ccsdt_6_kernel(const float *lhs, const float *rhs, float *X)
{
    __shared__ __align__(16) float lhs_SM[7676];
    __shared__ __align__(16) float rhs_SM[1916];
    asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernels in front have ended
    const int tid = (int)threadIdx.z * 64 + ((int)threadIdx.y * 4 + (int)threadIdx.x);
    const int thr_d = threadIdx.z;
    const int thr_e = threadIdx.y;
    const int thr_f = threadIdx.x;
    const int group = (int)blockIdx.x / 24;
    const int in_group = (int)blockIdx.x % 24;
    const int blk_a = blockIdx.z;
    const int blk_b = group * 2 + in_group % 2;
    const int blk_d = in_group / 2;
    // 1: (de-)comp( 2, 1, ^, 2, ^, ^, ^ ) ( ^, ^ ; ^ ) ( BLK.z, BLK.y, ^, BLK.x, ^, ^, ^ ) @order(grouped(2))
    __align__(16) float X_RM[128] = {};
    // 2: (de-)comp( ^, ^, ^, ^, ^, ^, ^ )
    //             ( lhs:SM[1,3,2,4]@pad(4), rhs:SM[1,3,4,2]@pad(4) ; X:RM[1,2,3,4,5,6] )
    //             ( ^, ^, ^, ^, ^, ^, FOR.1 )
    #pragma unroll
    for (int c_lhs_round = 0; c_lhs_round < 12; ++c_lhs_round)
        *(float4 *)&lhs_SM[c_lhs_round * 640 + tid / 64 * 320 + tid / 4 % 16 * 20 + tid % 4 * 4] =
                *(const float4 *)&lhs[c_lhs_round * 8192 + blk_b * 16 + tid / 64 * 4096 +
                tid / 4 % 16 * 256 + tid % 4 * 4];
    #pragma unroll
    for (int c_rhs_round = 0; c_rhs_round < 6; ++c_rhs_round) {
        const int c_rhs = c_rhs_round * 128 + tid;
        __align__(8) float rhs_row[2];
        *(float2 *)&rhs_row[0] = *(const float2 *)&rhs[blk_d * 18432 + blk_a * 2 + c_rhs / 384 * 9216 +
                c_rhs / 24 % 16 * 576 + c_rhs % 24 * 24];
        #pragma unroll
        for (int lane = 0; lane < 2; ++lane)
            rhs_SM[lane * 20 + c_rhs / 384 * 960 + c_rhs / 24 % 16 + c_rhs % 24 * 40] = rhs_row[lane];
    }
    // 3: (de-)comp( ^, ^, ^, 1, 1, 4, ^ ) ( ^, ^ ; ^ ) ( ^, ^, ^, THR.z, THR.y, THR.x, ^ )
    __syncthreads();  // lhs_SM is filled
    #pragma unroll
    for (int g_4 = 0; g_4 < 24; ++g_4) {
        // 4: (de-)comp( ^, ^, ^, ^, ^, ^, 1 )
        //             ( lhs:RM[1,2,3,4], rhs:RM[1,2,3,4] ; ^ )
        //             ( ^, ^, ^, ^, ^, ^, FOR.1 ) @unroll
        __align__(16) float lhs_RM[16];
        #pragma unroll
        for (int c_lhs3 = 0; c_lhs3 < 16; c_lhs3 += 4)
            *(float4 *)&lhs_RM[c_lhs3] = *(const float4 *)&lhs_SM[g_4 * 320 + thr_e * 20 + c_lhs3];
        float rhs_RM[8];
        #pragma unroll
        for (int c_rhs1 = 0; c_rhs1 < 4; ++c_rhs1) {
            #pragma unroll
            for (int c_rhs3 = 0; c_rhs3 < 2; ++c_rhs3)
                rhs_RM[c_rhs1 * 2 + c_rhs3] = rhs_SM[thr_d * 960 + g_4 * 40 + c_rhs3 * 20 + thr_f * 4 +
                        c_rhs1];
        }
        #pragma unroll
        for (int a_5 = 0; a_5 < 2; ++a_5) {
            #pragma unroll
            for (int c_5 = 0; c_5 < 16; ++c_5) {
                #pragma unroll
                for (int f_5 = 0; f_5 < 4; ++f_5)
                    X_RM[a_5 * 64 + c_5 * 4 + f_5] += lhs_RM[c_5] * rhs_RM[f_5 * 2 + a_5];
            }
        }
    }
    #pragma unroll
    for (int a_5 = 0; a_5 < 2; ++a_5) {
        #pragma unroll
        for (int c_5 = 0; c_5 < 16; ++c_5)
            *(float4 *)&X[blk_a * 3145728 + a_5 * 1572864 + blk_b * 98304 + c_5 * 6144 + blk_d * 512 +
                    thr_d * 256 + thr_e * 16 + thr_f * 4] = *(const float4 *)&X_RM[a_5 * 64 + c_5 * 4];
    }
}
