extern "C" __global__ void __launch_bounds__(256)
gather_sum_kernel(const int *I, const float *E, float *O)
{
    __shared__ __align__(16) float meet_f32[256];
    asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernels in front have ended
    const int thr_d = threadIdx.x;
    const int thr_l = threadIdx.y;
    const int blk_b = blockIdx.x;
    float O_RM = 0.0f;
    for (int l_1 = 0; l_1 < 12; ++l_1) {
        // 1: (de-)comp( 1, ^, 4 ) ( ^, ^ ; ^ ) ( BLK.x, ^, ^ )
        // 2: (de-)comp( ^, 1, 1 ) ( ^, ^ ; ^ ) ( ^, THR.x, THR.y )
        O_RM += E[thr_d + I[blk_b * 50 + l_1 * 4 + thr_l] * 64];
    }
    // 1: (de-)comp( 1, ^, 4 ) ( ^, ^ ; ^ ) ( BLK.x, ^, ^ )
    // 2: (de-)comp( ^, 1, 1 ) ( ^, ^ ; ^ ) ( ^, THR.x, THR.y )
    if (thr_l + 48 < 50)
        O_RM += E[thr_d + I[blk_b * 50 + thr_l + 48] * 64];
    const int unit = thr_l;
    meet_f32[unit * 64 + thr_d] = O_RM;
    __syncthreads();  // meet_f32 is filled
    if (unit < 2) {
        const float mine = meet_f32[unit * 64 + thr_d];
        const float theirs = meet_f32[unit * 64 + thr_d + 128];
        meet_f32[unit * 64 + thr_d] = mine + theirs;
    }
    __syncthreads();  // meet_f32 is filled
    if (unit < 1) {
        const float mine_2 = meet_f32[unit * 64 + thr_d];
        const float theirs_2 = meet_f32[unit * 64 + thr_d + 64];
        meet_f32[unit * 64 + thr_d] = mine_2 + theirs_2;
    }
    __syncthreads();  // meet_f32 is filled
    const float whole = meet_f32[thr_d];
    if (thr_l == 0)
        O[blk_b * 64 + thr_d] = whole;
}
