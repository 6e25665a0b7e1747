extern "C" __global__ void __launch_bounds__(200)
matmul_kernel(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ matmul_part)
{
    __shared__ __align__(16) float meet_f32[200];
    const int thr_j = threadIdx.x;
    const int thr_k = threadIdx.y;
    const int blk_k = blockIdx.x;
    if (blk_k < 1) {
        // whole tiles
        // 1: (de-)comp( ^, ^, 64 ) ( ^, ^ ; ^ ) ( ^, ^, BLK.x )
        float C_RM = 0.0f;
        for (int k_2 = 0; k_2 < 4; ++k_2) {
            // 2: (de-)comp( ^, ^, 16 ) ( ^, ^ ; ^ ) ( ^, ^, ^ )
            // 3: (de-)comp( ^, 1, 4 ) ( ^, ^ ; ^ ) ( ^, THR.x, THR.y )
            #pragma unroll
            for (int k_4 = 0; k_4 < 4; ++k_4) {
                // 4: (de-)comp( ^, ^, 1 ) ( ^, ^ ; ^ ) ( ^, ^, ^ ) @unroll
                C_RM += A[blk_k * 64 + k_2 * 16 + thr_k * 4 + k_4] * B[blk_k * 3200 + k_2 * 800 +
                        thr_k * 200 + k_4 * 50 + thr_j];
            }
        }
        const int unit = thr_k;
        meet_f32[unit * 50 + thr_j] = C_RM;
        __syncthreads();  // meet_f32 is filled
        if (unit < 2) {
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
            matmul_part[blk_k * 50 + thr_j] = whole;
    } else {
        // tiles cut by the edge
        // 1: (de-)comp( ^, ^, 64 ) ( ^, ^ ; ^ ) ( ^, ^, BLK.x )
        float C_RM = 0.0f;
        for (int k_2 = 0; k_2 < 4; ++k_2) {
            // 2: (de-)comp( ^, ^, 16 ) ( ^, ^ ; ^ ) ( ^, ^, ^ )
            // 3: (de-)comp( ^, 1, 4 ) ( ^, ^ ; ^ ) ( ^, THR.x, THR.y )
            #pragma unroll
            for (int k_4 = 0; k_4 < 4; ++k_4) {
                // 4: (de-)comp( ^, ^, 1 ) ( ^, ^ ; ^ ) ( ^, ^, ^ ) @unroll
                if (blk_k * 64 + k_2 * 16 + thr_k * 4 + k_4 < 67)
                    C_RM += A[blk_k * 64 + k_2 * 16 + thr_k * 4 + k_4] * B[blk_k * 3200 + k_2 * 800 +
                            thr_k * 200 + k_4 * 50 + thr_j];
            }
        }
        const int unit_2 = thr_k;
        meet_f32[unit_2 * 50 + thr_j] = C_RM;
        __syncthreads();  // meet_f32 is filled
        if (unit_2 < 2) {
            const float mine_3 = meet_f32[unit_2 * 50 + thr_j];
            const float theirs_3 = meet_f32[unit_2 * 50 + thr_j + 100];
            meet_f32[unit_2 * 50 + thr_j] = mine_3 + theirs_3;
        }
        __syncthreads();  // meet_f32 is filled
        if (unit_2 < 1) {
            const float mine_4 = meet_f32[unit_2 * 50 + thr_j];
            const float theirs_4 = meet_f32[unit_2 * 50 + thr_j + 50];
            meet_f32[unit_2 * 50 + thr_j] = mine_4 + theirs_4;
        }
        __syncthreads();  // meet_f32 is filled
        const float whole_2 = meet_f32[thr_j];
        if (thr_k == 0)
            matmul_part[blk_k * 50 + thr_j] = whole_2;
    }
}

extern "C" __global__ void __launch_bounds__(64)
matmul_combine(float *__restrict__ C, const float *__restrict__ matmul_part)
{
    __shared__ __align__(16) float meet_f32[64];
    const int thr_j = threadIdx.x;
    const int thr_part = threadIdx.y;
    const int blk_j = blockIdx.x;
    if (blk_j < 1) {
        // whole tiles
        float C_RM = 0.0f;
        C_RM += matmul_part[thr_part * 50 + blk_j * 32 + thr_j];
        const int unit = thr_part;
        meet_f32[unit * 32 + thr_j] = C_RM;
        __syncthreads();  // meet_f32 is filled
        if (unit < 1) {
            const float mine = meet_f32[unit * 32 + thr_j];
            const float theirs = meet_f32[unit * 32 + thr_j + 32];
            meet_f32[unit * 32 + thr_j] = mine + theirs;
        }
        __syncthreads();  // meet_f32 is filled
        const float whole = meet_f32[thr_j];
        if (thr_part == 0)
            C[blk_j * 32 + thr_j] += whole;
    } else {
        // tiles cut by the edge
        float C_RM = 0.0f;
        if (blk_j * 32 + thr_j < 50)
            C_RM += matmul_part[thr_part * 50 + blk_j * 32 + thr_j];
        const int unit_2 = thr_part;
        meet_f32[unit_2 * 32 + thr_j] = C_RM;
        __syncthreads();  // meet_f32 is filled
        if (unit_2 < 1) {
            const float mine_2 = meet_f32[unit_2 * 32 + thr_j];
            const float theirs_2 = meet_f32[unit_2 * 32 + thr_j + 32];
            meet_f32[unit_2 * 32 + thr_j] = mine_2 + theirs_2;
        }
        __syncthreads();  // meet_f32 is filled
        const float whole_2 = meet_f32[thr_j];
        if (thr_part == 0 && blk_j * 32 + thr_j < 50)
            C[blk_j * 32 + thr_j] += whole_2;
    }
}
