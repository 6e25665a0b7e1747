#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif

extern "C" __global__ void __launch_bounds__(256)
row_max_kernel(const float *A, float *best)
{
    __shared__ __align__(16) float meet_f32[8];
    asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernels in front have ended
    const int tid = threadIdx.x;
    const int thr_j = threadIdx.x;
    const int blk_i = blockIdx.x;
    // 1: (de-)comp( 1, ^ ) ( ^ ; ^ ) ( BLK.x, ^ )
    float best_RM = -INFINITY;
    for (int j_2 = 0; j_2 < 8; ++j_2) {
        // 2: (de-)comp( ^, 1024 ) ( ^ ; ^ ) ( ^, ^ )
        // 3: (de-)comp( ^, 4 ) ( ^ ; ^ ) ( ^, THR.x )
        #pragma unroll
        for (int j_4 = 0; j_4 < 4; ++j_4) {
            // 4: (de-)comp( ^, 1 ) ( ^ ; ^ ) ( ^, ^ ) @unroll
            const float v_best_RM = A[blk_i * 8192 + j_2 * 1024 + thr_j * 4 + j_4];
            best_RM = v_best_RM > best_RM ? v_best_RM : best_RM;
        }
    }
    const float part = best_RM;
    const float other = __shfl_xor_sync(0xffffffff, part, 1);
    const float part_2 = other > part ? other : part;
    const float other_2 = __shfl_xor_sync(0xffffffff, part_2, 2);
    const float part_3 = other_2 > part_2 ? other_2 : part_2;
    const float other_3 = __shfl_xor_sync(0xffffffff, part_3, 4);
    const float part_4 = other_3 > part_3 ? other_3 : part_3;
    const float other_4 = __shfl_xor_sync(0xffffffff, part_4, 8);
    const float part_5 = other_4 > part_4 ? other_4 : part_4;
    const float other_5 = __shfl_xor_sync(0xffffffff, part_5, 16);
    const float part_6 = other_5 > part_5 ? other_5 : part_5;
    const int lane = tid % 32;
    if (lane == 0)
        meet_f32[thr_j / 32] = part_6;
    __syncthreads();  // meet_f32 is filled
    const float part_7 = meet_f32[lane % 8];
    const float other_6 = __shfl_xor_sync(0xffffffff, part_7, 1);
    const float part_8 = other_6 > part_7 ? other_6 : part_7;
    const float other_7 = __shfl_xor_sync(0xffffffff, part_8, 2);
    const float part_9 = other_7 > part_8 ? other_7 : part_8;
    const float other_8 = __shfl_xor_sync(0xffffffff, part_9, 4);
    const float part_10 = other_8 > part_9 ? other_8 : part_9;
    if (thr_j == 0)
        best[blk_i] = part_10;
}
