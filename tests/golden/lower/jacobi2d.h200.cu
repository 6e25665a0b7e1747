extern "C" __global__ void __launch_bounds__(164)
jacobi2d_kernel(const float *__restrict__ A, float *__restrict__ B)
{
    const int thr_i = threadIdx.y;
    const int thr_j = threadIdx.x;
    const int blk_i = blockIdx.x;
    if (blk_i < 1) {
        // whole tiles
        // 1: (de-)comp( 16, ^ ) ( ^ ; ^ ) ( BLK.x, ^ )
        // 2: (de-)comp( 4, 1 ) ( ^ ; ^ ) ( THR.y, THR.x )
        for (int i_3 = 0; i_3 < 4; ++i_3)
            B[blk_i * 688 + thr_i * 172 + i_3 * 43 + thr_j + 44] = 0.2f * (A[blk_i * 688 + thr_i * 172 +
                    i_3 * 43 + thr_j + 44] + A[blk_i * 688 + thr_i * 172 + i_3 * 43 + thr_j + 43] +
                    A[blk_i * 688 + thr_i * 172 + i_3 * 43 + thr_j + 45] + A[blk_i * 688 + thr_i * 172 +
                    i_3 * 43 + thr_j + 1] + A[blk_i * 688 + thr_i * 172 + i_3 * 43 + thr_j + 87]);
    } else {
        // tiles cut by the edge
        // 1: (de-)comp( 16, ^ ) ( ^ ; ^ ) ( BLK.x, ^ )
        // 2: (de-)comp( 4, 1 ) ( ^ ; ^ ) ( THR.y, THR.x )
        for (int i_3 = 0; i_3 < 4; ++i_3) {
            if (blk_i * 16 + thr_i * 4 + i_3 < 17)
                B[blk_i * 688 + thr_i * 172 + i_3 * 43 + thr_j + 44] = 0.2f * (A[blk_i * 688 + thr_i * 172 +
                        i_3 * 43 + thr_j + 44] + A[blk_i * 688 + thr_i * 172 + i_3 * 43 + thr_j + 43] +
                        A[blk_i * 688 + thr_i * 172 + i_3 * 43 + thr_j + 45] + A[blk_i * 688 + thr_i * 172 +
                        i_3 * 43 + thr_j + 1] + A[blk_i * 688 + thr_i * 172 + i_3 * 43 + thr_j + 87]);
        }
    }
}
