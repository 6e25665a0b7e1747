extern "C" __global__ void __launch_bounds__(1024)
histogram_kernel(const int *B, int *H)
{
    __shared__ __align__(16) int H_SM[1024];
    asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernels in front have ended
    const int tid = threadIdx.x;
    const int thr_i = threadIdx.x;
    const int blk_i = blockIdx.x;
    H_SM[tid] = 0;
    // 1: (de-)comp( 65536 ) ( ^ ; ^@combine(atomic) ) ( BLK.x )
    __syncthreads();  // H_SM is written again
    for (int i_2 = 0; i_2 < 16; ++i_2) {
        // 2: (de-)comp( 4096 ) ( ^ ; H:SM[1] ) ( FOR.1 )
        // 3: (de-)comp( 4 ) ( B:RM[1] ; ^ ) ( THR.x )
        __align__(16) int B_RM[4];
        *(int4 *)&B_RM[0] = *(const int4 *)&B[blk_i * 65536 + i_2 * 4096 + thr_i * 4];
        #pragma unroll
        for (int i_4 = 0; i_4 < 4; ++i_4)
            atomicAdd(&H_SM[B_RM[i_4]], 1);
    }
    __syncthreads();  // H_SM is filled
    atomicAdd(&H[tid], H_SM[tid]);
}
