#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif

extern "C" __global__ void __launch_bounds__(128)
row_argmax_kernel(const float *A, float *best, int *place)
{
    __shared__ __align__(16) float meet_f32[4];
    __shared__ __align__(16) int meet_i321[4];
    asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernels in front have ended
    const int tid = threadIdx.x;
    const int thr_j = threadIdx.x;
    const int blk_i = blockIdx.x;
    // 1: (de-)comp( 1, ^ ) ( ^ ; ^, ^ ) ( BLK.x, ^ )
    float best_RM = -INFINITY;
    int best_RM_pos = 2147483647;
    for (int j_2 = 0; j_2 < 16; ++j_2) {
        // 2: (de-)comp( ^, 512 ) ( ^ ; best:RM[1], place:RM[1] ) ( ^, FOR.1 )
        // 3: (de-)comp( ^, 4 ) ( A:RM[1,2] ; ^, ^ ) ( ^, THR.x )
        __align__(16) float A_RM[4];
        *(float4 *)&A_RM[0] = *(const float4 *)&A[blk_i * 8192 + j_2 * 512 + thr_j * 4];
        #pragma unroll
        for (int j_4 = 0; j_4 < 4; ++j_4) {
            const float v_best_RM = A_RM[j_4];
            const int v_best_RM1 = j_2 * 512 + thr_j * 4 + j_4;
            const float h_best_RM = best_RM;
            const int h_best_RM1 = best_RM_pos;
            best_RM = v_best_RM > h_best_RM ? v_best_RM : h_best_RM;
            best_RM_pos = v_best_RM > h_best_RM ? v_best_RM1 : h_best_RM1;
        }
    }
    const float part = best_RM;
    const int part_2 = best_RM_pos;
    const float other = __shfl_xor_sync(0xffffffff, part, 1);
    const int other_2 = __shfl_xor_sync(0xffffffff, part_2, 1);
    const float part_3 = other > part || (other == part && other_2 < part_2) ? other : part;
    const int part_4 = other > part || (other == part && other_2 < part_2) ? other_2 : part_2;
    const float other_3 = __shfl_xor_sync(0xffffffff, part_3, 2);
    const int other_4 = __shfl_xor_sync(0xffffffff, part_4, 2);
    const float part_5 = other_3 > part_3 || (other_3 == part_3 && other_4 < part_4) ? other_3 : part_3;
    const int part_6 = other_3 > part_3 || (other_3 == part_3 && other_4 < part_4) ? other_4 : part_4;
    const float other_5 = __shfl_xor_sync(0xffffffff, part_5, 4);
    const int other_6 = __shfl_xor_sync(0xffffffff, part_6, 4);
    const float part_7 = other_5 > part_5 || (other_5 == part_5 && other_6 < part_6) ? other_5 : part_5;
    const int part_8 = other_5 > part_5 || (other_5 == part_5 && other_6 < part_6) ? other_6 : part_6;
    const float other_7 = __shfl_xor_sync(0xffffffff, part_7, 8);
    const int other_8 = __shfl_xor_sync(0xffffffff, part_8, 8);
    const float part_9 = other_7 > part_7 || (other_7 == part_7 && other_8 < part_8) ? other_7 : part_7;
    const int part_10 = other_7 > part_7 || (other_7 == part_7 && other_8 < part_8) ? other_8 : part_8;
    const float other_9 = __shfl_xor_sync(0xffffffff, part_9, 16);
    const int other_10 = __shfl_xor_sync(0xffffffff, part_10, 16);
    const float part_11 = other_9 > part_9 || (other_9 == part_9 && other_10 < part_10) ? other_9 : part_9;
    const int part_12 = other_9 > part_9 || (other_9 == part_9 && other_10 < part_10) ? other_10 : part_10;
    const int lane = tid % 32;
    if (lane == 0) {
        meet_f32[thr_j / 32] = part_11;
        meet_i321[thr_j / 32] = part_12;
    }
    __syncthreads();  // meet_f32 is filled
    const float part_13 = meet_f32[lane % 4];
    const int part_14 = meet_i321[lane % 4];
    const float other_11 = __shfl_xor_sync(0xffffffff, part_13, 1);
    const int other_12 = __shfl_xor_sync(0xffffffff, part_14, 1);
    const float part_15 = other_11 > part_13 || (other_11 == part_13 && other_12 < part_14) ? other_11 :
            part_13;
    const int part_16 = other_11 > part_13 || (other_11 == part_13 && other_12 < part_14) ? other_12 :
            part_14;
    const float other_13 = __shfl_xor_sync(0xffffffff, part_15, 2);
    const int other_14 = __shfl_xor_sync(0xffffffff, part_16, 2);
    const float part_17 = other_13 > part_15 || (other_13 == part_15 && other_14 < part_16) ? other_13 :
            part_15;
    const int part_18 = other_13 > part_15 || (other_13 == part_15 && other_14 < part_16) ? other_14 :
            part_16;
    if (thr_j == 0) {
        best[blk_i] = part_17 > -INFINITY || (part_17 == -INFINITY && part_18 < -1) ? part_17 : -INFINITY;
        place[blk_i] = part_17 > -INFINITY || (part_17 == -INFINITY && part_18 < -1) ? part_18 : -1;
    }
}
