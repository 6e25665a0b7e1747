extern "C" __global__ void __launch_bounds__(128)
transpose_kernel(const double *X, double *Y)
{
    __shared__ __align__(16) double X_SM[271];
    asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernels in front have ended
    const int tid = (int)threadIdx.y * 8 + (int)threadIdx.x;
    const int thr_i = threadIdx.x;
    const int thr_j = threadIdx.y;
    const int blk_i = blockIdx.y;
    const int blk_j = blockIdx.x;
    // 1: (de-)comp( 16, 16 ) ( X:SM[1,2]@pad(1) ; ^@store(plain, vec=2) ) ( BLK.y, BLK.x )
    #pragma unroll
    for (int c_X_round = 0; c_X_round < 2; ++c_X_round)
        X_SM[c_X_round * 136 + tid / 16 * 17 + tid % 16] = X[blk_i * 1024 + c_X_round * 512 + blk_j * 16 +
                tid / 16 * 64 + tid % 16];
    // 2: (de-)comp( 2, 1 ) ( ^ ; ^ ) ( THR.x, THR.y )
    // 3: (de-)comp( 1, 1 ) ( ^ ; ^ ) ( FOR.1, FOR.2 )
    __syncthreads();  // X_SM is filled
    #pragma unroll
    for (int i_3 = 0; i_3 < 2; i_3 += 2) {
        __align__(16) double Y_row[2];
        #pragma unroll
        for (int lane = 0; lane < 2; ++lane)
            Y_row[lane] = X_SM[thr_i * 34 + i_3 * 17 + lane * 17 + thr_j];
        *(double2 *)&Y[blk_j * 1024 + thr_j * 64 + blk_i * 16 + thr_i * 2 + i_3] =
                *(const double2 *)&Y_row[0];
    }
}
