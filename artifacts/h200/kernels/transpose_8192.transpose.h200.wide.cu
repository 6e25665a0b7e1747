extern "C" __global__ void __launch_bounds__(512)
transpose_kernel(const float *A, float *B)
{
    __shared__ __align__(16) float A_SM[4348];
    asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernels in front have ended
    const int tid = (int)threadIdx.y * 64 + (int)threadIdx.x;
    const int thr_i = threadIdx.x;
    const int thr_j = threadIdx.y;
    const int blk_i = blockIdx.x;
    const int blk_j = blockIdx.y;
    // 1: (de-)comp( 64, 64 ) ( A:SM[1,2]@pad(4) ; ^ ) ( BLK.x, BLK.y )
    #pragma unroll
    for (int c_A_round = 0; c_A_round < 2; ++c_A_round)
        *(float4 *)&A_SM[c_A_round * 2176 + tid / 16 * 68 + tid % 16 * 4] =
                *(const float4 *)&A[blk_i * 524288 + c_A_round * 262144 + blk_j * 64 + tid / 16 * 8192 +
                tid % 16 * 4];
    // 2: (de-)comp( 1, 8 ) ( ^ ; ^ ) ( THR.x, THR.y )
    __syncthreads();  // A_SM is filled
    for (int j_3 = 0; j_3 < 8; ++j_3)
        B[blk_j * 524288 + thr_j * 65536 + j_3 * 8192 + blk_i * 64 + thr_i] = A_SM[thr_i * 68 + thr_j * 8 +
                j_3];
}
