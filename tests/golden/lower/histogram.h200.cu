extern "C" __global__ void __launch_bounds__(256)
histogram_kernel(const int *B, int *H)
{
    __shared__ __align__(16) int H_SM[19];
    asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernels in front have ended
    const int tid = threadIdx.x;
    const int thr_i = threadIdx.x;
    const int blk_i = blockIdx.x;
    if (tid < 19)
        H_SM[tid] = 0;
    if (blk_i < 19) {
        // whole tiles
        // 1: (de-)comp( 256 ) ( ^ ; ^ ) ( BLK.x )
        // 2: (de-)comp( ^ ) ( ^ ; H:SM[1] ) ( ^ )
        // 3: (de-)comp( 1 ) ( ^ ; ^ ) ( THR.x )
        __syncthreads();  // H_SM is written again
        atomicAdd(&H_SM[B[blk_i * 256 + thr_i]], 1);
    } else {
        // tiles cut by the edge
        // 1: (de-)comp( 256 ) ( ^ ; ^ ) ( BLK.x )
        // 2: (de-)comp( ^ ) ( ^ ; H:SM[1] ) ( ^ )
        // 3: (de-)comp( 1 ) ( ^ ; ^ ) ( THR.x )
        __syncthreads();  // H_SM is written again
        if (blk_i * 256 + thr_i < 5003)
            atomicAdd(&H_SM[B[blk_i * 256 + thr_i]], 1);
    }
    __syncthreads();  // H_SM is filled
    if (tid < 19)
        atomicAdd(&H[tid], H_SM[tid]);
}
