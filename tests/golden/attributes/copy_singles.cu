extern "C" __global__ void __launch_bounds__(64)
map_kernel(const float *X, float *Y)
{
    asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernels in front have ended
    const int thr_i = threadIdx.y;
    const int thr_j = threadIdx.x;
    const int blk_i = blockIdx.y;
    const int blk_j = blockIdx.x;
    // 1: (de-)comp( 8, 64 ) ( ^ ; ^ ) ( BLK.y, BLK.x )
    __align__(16) float Y_RM[8];
    // 2: (de-)comp( 1, 8 ) ( X:RM[1,2]@copy(plain, vec=1) ; Y:RM[1,2] ) ( THR.y, THR.x )
    float X_RM[8];
    #pragma unroll
    for (int c_X1 = 0; c_X1 < 8; ++c_X1)
        X_RM[c_X1] = X[blk_i * 1024 + thr_i * 128 + blk_j * 64 + thr_j * 8 + c_X1];
    #pragma unroll
    for (int j_3 = 0; j_3 < 8; ++j_3)
        Y_RM[j_3] = 2.0f * X_RM[j_3] + 1.0f;
    #pragma unroll
    for (int j_3 = 0; j_3 < 8; j_3 += 4)
        *(float4 *)&Y[blk_i * 1024 + thr_i * 128 + blk_j * 64 + thr_j * 8 + j_3] =
                *(const float4 *)&Y_RM[j_3];
}
