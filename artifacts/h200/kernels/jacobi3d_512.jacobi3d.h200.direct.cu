extern "C" __global__ void __launch_bounds__(512)
jacobi3d_kernel(const float *__restrict__ A, float *__restrict__ B)
{
    const int thr_j = threadIdx.y;
    const int thr_k = threadIdx.x;
    const int blk_i = blockIdx.z;
    const int blk_j = blockIdx.y;
    const int blk_k = blockIdx.x;
    // 1: (de-)comp( 4, 16, 128 ) ( ^ ; ^ ) ( BLK.z, BLK.y, BLK.x )
    // 2: (de-)comp( 4, 2, 2 ) ( ^ ; ^ ) ( THR.z, THR.y, THR.x@cyclic(1) )
    for (int i_3 = 0; i_3 < 4; ++i_3) {
        for (int j_3 = 0; j_3 < 2; ++j_3) {
            for (int k_3 = 0; k_3 < 2; ++k_3)
                B[blk_i * 1048576 + i_3 * 262144 + blk_j * 8192 + thr_j * 1024 + j_3 * 512 + blk_k * 128 +
                        k_3 * 64 + thr_k] = 1.0f / 7.0f * (A[blk_i * 1056784 + i_3 * 264196 + blk_j * 8224 +
                        thr_j * 1028 + j_3 * 514 + blk_k * 128 + k_3 * 64 + thr_k + 264711] +
                        A[blk_i * 1056784 + i_3 * 264196 + blk_j * 8224 + thr_j * 1028 + j_3 * 514 +
                        blk_k * 128 + k_3 * 64 + thr_k + 515] + A[blk_i * 1056784 + i_3 * 264196 +
                        blk_j * 8224 + thr_j * 1028 + j_3 * 514 + blk_k * 128 + k_3 * 64 + thr_k + 528907] +
                        A[blk_i * 1056784 + i_3 * 264196 + blk_j * 8224 + thr_j * 1028 + j_3 * 514 +
                        blk_k * 128 + k_3 * 64 + thr_k + 264197] + A[blk_i * 1056784 + i_3 * 264196 +
                        blk_j * 8224 + thr_j * 1028 + j_3 * 514 + blk_k * 128 + k_3 * 64 + thr_k + 265225] +
                        A[blk_i * 1056784 + i_3 * 264196 + blk_j * 8224 + thr_j * 1028 + j_3 * 514 +
                        blk_k * 128 + k_3 * 64 + thr_k + 264710] + A[blk_i * 1056784 + i_3 * 264196 +
                        blk_j * 8224 + thr_j * 1028 + j_3 * 514 + blk_k * 128 + k_3 * 64 + thr_k + 264712]);
        }
    }
}
