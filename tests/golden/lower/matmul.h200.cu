extern "C" __global__ void __launch_bounds__(150)
matmul_kernel(const float *A, const float *B, float *C)
{
    __shared__ __align__(16) float meet_f32[150];
    asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernels in front have ended
    const int thr_j = threadIdx.x;
    const int thr_k = threadIdx.y;
    // 1: (de-)comp( ^, 1, 24 ) ( ^, ^ ; ^ ) ( ^, THR.x, THR.y )
    float C_RM = 0.0f;
    #pragma unroll
    for (int k_2 = 0; k_2 < 3; ++k_2) {
        // 2: (de-)comp( ^, ^, 8 ) ( ^, B:RM[1,2] ; ^ ) ( ^, ^, ^ ) @unroll
        float B_RM[8];
        #pragma unroll
        for (int c_B0 = 0; c_B0 < 8; ++c_B0)
            B_RM[c_B0] = thr_k * 24 + k_2 * 8 + c_B0 < 67 ? B[thr_k * 1200 + k_2 * 400 + c_B0 * 50 + thr_j] :
                    0.0f;
        #pragma unroll
        for (int k_3 = 0; k_3 < 8; ++k_3) {
            // 3: (de-)comp( ^, ^, 1 ) ( ^, ^ ; ^ ) ( ^, ^, ^ ) @unroll
            if (thr_k * 24 + k_2 * 8 + k_3 < 67)
                C_RM += A[thr_k * 24 + k_2 * 8 + k_3] * B_RM[k_3];
        }
    }
    const int unit = thr_k;
    meet_f32[unit * 50 + thr_j] = C_RM;
    __syncthreads();  // meet_f32 is filled
    if (unit < 2 && unit < 1) {
        const float mine = meet_f32[unit * 50 + thr_j];
        const float theirs = meet_f32[unit * 50 + thr_j + 100];
        meet_f32[unit * 50 + thr_j] = mine + theirs;
    }
    __syncthreads();  // meet_f32 is filled
    if (unit < 1) {
        const float mine_2 = meet_f32[unit * 50 + thr_j];
        const float theirs_2 = meet_f32[unit * 50 + thr_j + 50];
        meet_f32[unit * 50 + thr_j] = mine_2 + theirs_2;
    }
    __syncthreads();  // meet_f32 is filled
    const float whole = meet_f32[thr_j];
    if (thr_k == 0)
        C[thr_j] += whole;
}
