__device__ __forceinline__ int swizzle_128_8_16(int i)
{
    return i ^ (i / 16 % 8 * 2);
}

extern "C" __global__ void __launch_bounds__(256)
transpose_kernel(const double *X, double *Y)
{
    __shared__ __align__(128) double X_SM[256];
    asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernels in front have ended
    const int tid = (int)threadIdx.y * 16 + (int)threadIdx.x;
    const int thr_i = threadIdx.x;
    const int thr_j = threadIdx.y;
    const int blk_i = blockIdx.y;
    const int blk_j = blockIdx.x;
    // 1: (de-)comp( 16, 16 ) ( X:SM[1,2]@swizzle(128) ; ^ ) ( BLK.y, BLK.x )
    if (tid < 128)
        *(double2 *)&X_SM[swizzle_128_8_16(tid / 8 * 16 + tid % 8 * 2)] = *(const double2 *)&X[blk_i * 1024 +
                blk_j * 16 + tid / 8 * 64 + tid % 8 * 2];
    // 2: (de-)comp( 1, 1 ) ( ^ ; ^ ) ( THR.x, THR.y )
    __syncthreads();  // X_SM is filled
    Y[blk_j * 1024 + thr_j * 64 + blk_i * 16 + thr_i] = X_SM[swizzle_128_8_16(thr_i * 16 + thr_j)];
}
