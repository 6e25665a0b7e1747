extern "C" __global__ void __launch_bounds__(256)
matmul_init_start(float *C)
{
    asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernels in front have ended
    const int thr_j = threadIdx.x;
    const int blk_j = blockIdx.x;
    if (blk_j < 3) {
        // whole tiles
        C[blk_j * 256 + thr_j] = 0.0f;
    } else {
        // tiles cut by the edge
        if (blk_j * 256 + thr_j < 1000)
            C[blk_j * 256 + thr_j] = 0.0f;
    }
}

extern "C" __global__ void __launch_bounds__(256)
matmul_init_kernel(const float *A, const float *B, float *C)
{
    __shared__ __align__(16) float meet_f32[256];
    asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernels in front have ended
    const int thr_j = threadIdx.x;
    const int thr_k = threadIdx.y;
    const int blk_j = blockIdx.x;
    const int blk_k = blockIdx.y;
    if (blk_j < 15) {
        // whole tiles
        // 1: (de-)comp( ^, 64, 64 ) ( ^, ^ ; ^@combine(atomic) ) ( ^, BLK.x, BLK.y )
        // 2: (de-)comp( ^, 1, 16 ) ( ^, ^ ; ^@combine(shared) ) ( ^, THR.x, THR.y )
        float C_RM = 0.0f;
        for (int k_3 = 0; k_3 < 2; ++k_3) {
            // 3: (de-)comp( ^, ^, 8 ) ( ^, B:RM[1,2] ; C:RM[1,2] ) ( ^, ^, FOR.1 )
            float B_RM[8];
            #pragma unroll
            for (int c_B0 = 0; c_B0 < 8; ++c_B0)
                B_RM[c_B0] = B[blk_k * 64000 + thr_k * 16000 + k_3 * 8000 + c_B0 * 1000 + blk_j * 64 + thr_j];
            #pragma unroll
            for (int k_4 = 0; k_4 < 8; k_4 += 4) {
                __align__(16) float A_row[4];
                *(float4 *)&A_row[0] = *(const float4 *)&A[blk_k * 64 + thr_k * 16 + k_3 * 8 + k_4];
                #pragma unroll
                for (int lane = 0; lane < 4; ++lane)
                    C_RM += A_row[lane] * B_RM[k_4 + lane];
            }
        }
        const int unit = thr_k;
        meet_f32[unit * 64 + thr_j] = C_RM;
        __syncthreads();  // meet_f32 is filled
        if (unit < 2) {
            const float mine = meet_f32[unit * 64 + thr_j];
            const float theirs = meet_f32[unit * 64 + thr_j + 128];
            meet_f32[unit * 64 + thr_j] = mine + theirs;
        }
        __syncthreads();  // meet_f32 is filled
        if (unit < 1) {
            const float mine_2 = meet_f32[unit * 64 + thr_j];
            const float theirs_2 = meet_f32[unit * 64 + thr_j + 64];
            meet_f32[unit * 64 + thr_j] = mine_2 + theirs_2;
        }
        __syncthreads();  // meet_f32 is filled
        const float whole = meet_f32[thr_j];
        if (thr_k == 0)
            atomicAdd(&C[blk_j * 64 + thr_j], whole);
    } else {
        // tiles cut by the edge
        // 1: (de-)comp( ^, 64, 64 ) ( ^, ^ ; ^@combine(atomic) ) ( ^, BLK.x, BLK.y )
        // 2: (de-)comp( ^, 1, 16 ) ( ^, ^ ; ^@combine(shared) ) ( ^, THR.x, THR.y )
        float C_RM = 0.0f;
        for (int k_3 = 0; k_3 < 2; ++k_3) {
            // 3: (de-)comp( ^, ^, 8 ) ( ^, B:RM[1,2] ; C:RM[1,2] ) ( ^, ^, FOR.1 )
            float B_RM_2[8];
            #pragma unroll
            for (int c_B0_2 = 0; c_B0_2 < 8; ++c_B0_2)
                B_RM_2[c_B0_2] = blk_j * 64 + thr_j < 1000 ? B[blk_k * 64000 + thr_k * 16000 + k_3 * 8000 +
                        c_B0_2 * 1000 + blk_j * 64 + thr_j] : 0.0f;
            #pragma unroll
            for (int k_4 = 0; k_4 < 8; k_4 += 4) {
                __align__(16) float A_row_2[4];
                *(float4 *)&A_row_2[0] = *(const float4 *)&A[blk_k * 64 + thr_k * 16 + k_3 * 8 + k_4];
                #pragma unroll
                for (int lane_2 = 0; lane_2 < 4; ++lane_2)
                    C_RM += A_row_2[lane_2] * B_RM_2[k_4 + lane_2];
            }
        }
        const int unit_2 = thr_k;
        meet_f32[unit_2 * 64 + thr_j] = C_RM;
        __syncthreads();  // meet_f32 is filled
        if (unit_2 < 2) {
            const float mine_3 = meet_f32[unit_2 * 64 + thr_j];
            const float theirs_3 = meet_f32[unit_2 * 64 + thr_j + 128];
            meet_f32[unit_2 * 64 + thr_j] = mine_3 + theirs_3;
        }
        __syncthreads();  // meet_f32 is filled
        if (unit_2 < 1) {
            const float mine_4 = meet_f32[unit_2 * 64 + thr_j];
            const float theirs_4 = meet_f32[unit_2 * 64 + thr_j + 64];
            meet_f32[unit_2 * 64 + thr_j] = mine_4 + theirs_4;
        }
        __syncthreads();  // meet_f32 is filled
        const float whole_2 = meet_f32[thr_j];
        if (thr_k == 0 && blk_j * 64 + thr_j < 1000)
            atomicAdd(&C[blk_j * 64 + thr_j], whole_2);
    }
}
