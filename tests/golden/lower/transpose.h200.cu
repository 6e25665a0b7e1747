extern "C" __global__ void __launch_bounds__(256)
transpose_kernel(const float *A, float *B)
{
    __shared__ __align__(16) float A_SM[1055];
    asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernels in front have ended
    const int tid = (int)threadIdx.y * 32 + (int)threadIdx.x;
    const int thr_i = threadIdx.x;
    const int thr_j = threadIdx.y;
    const int blk_i = blockIdx.x;
    const int blk_j = blockIdx.y;
    if (blk_i < 1 && blk_j < 1) {
        // whole tiles
        // 1: (de-)comp( 32, 32 ) ( A:SM[1,2]@pad(1) ; ^ ) ( BLK.x, BLK.y )
        #pragma unroll
        for (int c_A_round = 0; c_A_round < 4; ++c_A_round)
            A_SM[c_A_round * 264 + tid / 32 * 33 + tid % 32] = A[blk_i * 1696 + c_A_round * 424 +
                    blk_j * 32 + tid / 32 * 53 + tid % 32];
        // 2: (de-)comp( 1, 4 ) ( ^ ; ^ ) ( THR.x, THR.y )
        __syncthreads();  // A_SM is filled
        for (int j_3 = 0; j_3 < 4; ++j_3)
            B[blk_j * 1184 + thr_j * 148 + j_3 * 37 + blk_i * 32 + thr_i] = A_SM[thr_i * 33 + thr_j * 4 +
                    j_3];
    } else {
        // tiles cut by the edge
        // 1: (de-)comp( 32, 32 ) ( A:SM[1,2]@pad(1) ; ^ ) ( BLK.x, BLK.y )
        #pragma unroll
        for (int c_A_round_2 = 0; c_A_round_2 < 4; ++c_A_round_2)
            A_SM[c_A_round_2 * 264 + tid / 32 * 33 + tid % 32] = blk_i * 32 + (tid / 32 +
                    c_A_round_2 * 8) < 37 && blk_j * 32 + tid % 32 < 53 ? A[blk_i * 1696 +
                    c_A_round_2 * 424 + blk_j * 32 + tid / 32 * 53 + tid % 32] : 0.0f;
        // 2: (de-)comp( 1, 4 ) ( ^ ; ^ ) ( THR.x, THR.y )
        __syncthreads();  // A_SM is filled
        for (int j_3 = 0; j_3 < 4; ++j_3) {
            if (blk_i * 32 + thr_i < 37 && blk_j * 32 + thr_j * 4 + j_3 < 53)
                B[blk_j * 1184 + thr_j * 148 + j_3 * 37 + blk_i * 32 + thr_i] = A_SM[thr_i * 33 + thr_j * 4 +
                        j_3];
        }
    }
}
