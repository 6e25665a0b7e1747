extern "C" __global__ void __launch_bounds__(64)
map_kernel(const float *__restrict__ X, float *__restrict__ Y)
{
    const int thr_i = threadIdx.y;
    const int thr_j = threadIdx.x;
    const int blk_i = blockIdx.y;
    const int blk_j = blockIdx.x;
    // 1: (de-)comp( 8, 64 ) ( ^ ; ^@store(plain, vec=4) ) ( BLK.y, BLK.x )
    // 2: (de-)comp( 1, 8 ) ( ^ ; ^ ) ( THR.y, THR.x )
    #pragma unroll
    for (int j_3 = 0; j_3 < 8; j_3 += 4) {
        __align__(16) float X_row[4];
        __align__(16) float Y_row[4];
        *(float4 *)&X_row[0] = *(const float4 *)&X[blk_i * 1024 + thr_i * 128 + blk_j * 64 + thr_j * 8 + j_3];
        #pragma unroll
        for (int lane = 0; lane < 4; ++lane)
            Y_row[lane] = 2.0f * X_row[lane] + 1.0f;
        *(float4 *)&Y[blk_i * 1024 + thr_i * 128 + blk_j * 64 + thr_j * 8 + j_3] = *(const float4 *)&Y_row[0];
    }
}
