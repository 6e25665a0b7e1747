__device__ __forceinline__ void cp_async_16(void *dst, const void *src)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                 :: "r"((unsigned)__cvta_generic_to_shared(dst)), "l"(__cvta_generic_to_global(src))
                 : "memory");
}

__device__ __forceinline__ void cp_async_commit()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

template <int pending>
__device__ __forceinline__ void cp_async_wait()
{
    asm volatile("cp.async.wait_group %0;" :: "n"(pending) : "memory");
}

__device__ __forceinline__ void cp_async_16_if(bool take, void *dst, const void *src)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :: "r"((unsigned)__cvta_generic_to_shared(dst)), "l"(__cvta_generic_to_global(src)), "r"(take ? 16 : 0)
                 : "memory");
}

extern "C" __global__ void __launch_bounds__(64)
matmul_kernel(const float *A, const float *B, float *C)
{
    __shared__ __align__(16) float A_SM[1272];
    __shared__ __align__(16) float B_SM[2048];
    asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernels in front have ended
    const int tid = threadIdx.x;
    const int wrp_i = tid / 32;
    const int thr_i = tid / 16 % 2;
    const int thr_i_2 = tid % 2;
    const int thr_j = tid / 2 % 8;
    const int blk_i = blockIdx.y;
    const int blk_j = blockIdx.x;
    const int blk_k = blockIdx.z;
    if (blk_k < 1) {
        // whole parts of the reduction
        if (blk_i < 6 && blk_j < 3) {
            // whole tiles
            // 1: (de-)comp( 16, 32, 64 ) ( ^, ^ ; ^@combine(atomic) ) ( BLK.y, BLK.x, BLK.z )
            __align__(16) float C_RM[8] = {};
            // 2: (de-)comp( ^, ^, 32 )
            //             ( A:SM[2,1]@pad(4), B:SM[1,2]@copy(async) ; C:RM[1,2] )
            //             ( ^, ^, ^ ) @stages(2)
            {
                #pragma unroll
                for (int c_B_round = 0; c_B_round < 4; ++c_B_round)
                    cp_async_16(&B_SM[c_B_round * 256 + tid / 8 * 32 + tid % 8 * 4], &B[blk_k * 6400 +
                            c_B_round * 800 + blk_j * 32 + tid / 8 * 100 + tid % 8 * 4]);
            }
            cp_async_commit();
            {
                #pragma unroll
                for (int c_A_round = 0; c_A_round < 2; ++c_A_round) {
                    __align__(16) float A_row[4];
                    *(float4 *)&A_row[0] = *(const float4 *)&A[blk_i * 1536 + c_A_round * 768 + blk_k * 64 +
                            tid / 8 * 96 + tid % 8 * 4];
                    #pragma unroll
                    for (int lane = 0; lane < 4; ++lane)
                        A_SM[lane * 20 + c_A_round * 8 + tid / 8 + tid % 8 * 80] = A_row[lane];
                }
            }
            for (int k_2 = 0; k_2 < 2; ++k_2) {
                cp_async_wait<0>();
                __syncthreads();  // the slot is filled, and the one before it is free
                if (k_2 + 1 < 2) {
                    const int fill_3 = (k_2 + 1) % 2;
                    #pragma unroll
                    for (int c_B_round_2 = 0; c_B_round_2 < 4; ++c_B_round_2)
                        cp_async_16(&B_SM[fill_3 * 1024 + c_B_round_2 * 256 + tid / 8 * 32 + tid % 8 * 4],
                                &B[blk_k * 6400 + k_2 * 3200 + c_B_round_2 * 800 + blk_j * 32 + 3200 +
                                tid / 8 * 100 + tid % 8 * 4]);
                }
                cp_async_commit();
                __align__(16) float A_next[8];
                if (k_2 + 1 < 2) {
                    #pragma unroll
                    for (int c_A_round_2 = 0; c_A_round_2 < 2; ++c_A_round_2)
                        *(float4 *)&A_next[c_A_round_2 * 4] = *(const float4 *)&A[blk_i * 1536 +
                                c_A_round_2 * 768 + blk_k * 64 + k_2 * 32 + 32 + tid / 8 * 96 + tid % 8 * 4];
                }
                const int slot_k_2 = k_2 % 2;
                // 3: (de-)comp( 8, ^, ^ ) ( ^, ^ ; ^ ) ( WRP.y, ^, ^ )
                // 4: (de-)comp( 4, ^, ^ ) ( ^, ^ ; ^ ) ( THR.z, ^, ^ )
                // 5: (de-)comp( 2, 4, ^ ) ( ^, ^ ; ^ ) ( THR.x, THR.y, ^ )
                #pragma unroll
                for (int k_6 = 0; k_6 < 32; ++k_6) {
                    // 6: (de-)comp( ^, ^, 1 ) ( A:RM[1,2], B:RM[1,2] ; ^ ) ( ^, ^, ^ ) @unroll
                    __align__(8) float A_RM[2];
                    *(float2 *)&A_RM[0] = *(const float2 *)&A_SM[slot_k_2 * 636 + k_6 * 20 + wrp_i * 8 +
                            thr_i * 4 + thr_i_2 * 2];
                    __align__(16) float B_RM[4];
                    *(float4 *)&B_RM[0] = *(const float4 *)&B_SM[slot_k_2 * 1024 + k_6 * 32 + thr_j * 4];
                    #pragma unroll
                    for (int i_7 = 0; i_7 < 2; ++i_7) {
                        #pragma unroll
                        for (int j_7 = 0; j_7 < 4; ++j_7)
                            C_RM[i_7 * 4 + j_7] += A_RM[i_7] * B_RM[j_7];
                    }
                }
                if (k_2 + 1 < 2) {
                    const int fill_4 = (k_2 + 1) % 2;
                    #pragma unroll
                    for (int c_A_round_2 = 0; c_A_round_2 < 2; ++c_A_round_2) {
                        A_SM[fill_4 * 636 + c_A_round_2 * 8 + tid / 8 + tid % 8 * 80] =
                                A_next[c_A_round_2 * 4];
                        A_SM[fill_4 * 636 + c_A_round_2 * 8 + 20 + tid / 8 + tid % 8 * 80] =
                                A_next[c_A_round_2 * 4 + 1];
                        A_SM[fill_4 * 636 + c_A_round_2 * 8 + 40 + tid / 8 + tid % 8 * 80] =
                                A_next[c_A_round_2 * 4 + 2];
                        A_SM[fill_4 * 636 + c_A_round_2 * 8 + 60 + tid / 8 + tid % 8 * 80] =
                                A_next[c_A_round_2 * 4 + 3];
                    }
                }
            }
            __syncthreads();  // all slots are free again
            #pragma unroll
            for (int i_7 = 0; i_7 < 2; ++i_7)
                atomicAdd((float4 *)&C[blk_i * 1600 + wrp_i * 800 + thr_i * 400 + thr_i_2 * 200 + i_7 * 100 +
                        blk_j * 32 + thr_j * 4], *(const float4 *)&C_RM[i_7 * 4]);
        } else {
            // tiles cut by the edge
            // 1: (de-)comp( 16, 32, 64 ) ( ^, ^ ; ^@combine(atomic) ) ( BLK.y, BLK.x, BLK.z )
            __align__(16) float C_RM[8] = {};
            // 2: (de-)comp( ^, ^, 32 )
            //             ( A:SM[2,1]@pad(4), B:SM[1,2]@copy(async) ; C:RM[1,2] )
            //             ( ^, ^, ^ ) @stages(2)
            {
                #pragma unroll
                for (int c_B_round_3 = 0; c_B_round_3 < 4; ++c_B_round_3)
                    cp_async_16_if(blk_j * 32 + tid % 8 * 4 < 100, &B_SM[c_B_round_3 * 256 + tid / 8 * 32 +
                            tid % 8 * 4], &B[blk_k * 6400 + c_B_round_3 * 800 + blk_j * 32 + tid / 8 * 100 +
                            tid % 8 * 4]);
            }
            cp_async_commit();
            {
                #pragma unroll
                for (int c_A_round_3 = 0; c_A_round_3 < 2; ++c_A_round_3) {
                    __align__(16) float A_row_2[4];
                    *(float4 *)&A_row_2[0] = blk_i * 16 + (tid / 8 + c_A_round_3 * 8) < 100 ?
                            *(const float4 *)&A[blk_i * 1536 + c_A_round_3 * 768 + blk_k * 64 +
                            tid / 8 * 96 + tid % 8 * 4] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
                    #pragma unroll
                    for (int lane_2 = 0; lane_2 < 4; ++lane_2)
                        A_SM[lane_2 * 20 + c_A_round_3 * 8 + tid / 8 + tid % 8 * 80] = A_row_2[lane_2];
                }
            }
            for (int k_2 = 0; k_2 < 2; ++k_2) {
                cp_async_wait<0>();
                __syncthreads();  // the slot is filled, and the one before it is free
                if (k_2 + 1 < 2) {
                    const int fill_7 = (k_2 + 1) % 2;
                    #pragma unroll
                    for (int c_B_round_4 = 0; c_B_round_4 < 4; ++c_B_round_4)
                        cp_async_16_if(blk_j * 32 + tid % 8 * 4 < 100, &B_SM[fill_7 * 1024 +
                                c_B_round_4 * 256 + tid / 8 * 32 + tid % 8 * 4], &B[blk_k * 6400 +
                                k_2 * 3200 + c_B_round_4 * 800 + blk_j * 32 + 3200 + tid / 8 * 100 +
                                tid % 8 * 4]);
                }
                cp_async_commit();
                __align__(16) float A_next_2[8];
                if (k_2 + 1 < 2) {
                    #pragma unroll
                    for (int c_A_round_4 = 0; c_A_round_4 < 2; ++c_A_round_4)
                        *(float4 *)&A_next_2[c_A_round_4 * 4] = blk_i * 16 + (tid / 8 +
                                c_A_round_4 * 8) < 100 ? *(const float4 *)&A[blk_i * 1536 +
                                c_A_round_4 * 768 + blk_k * 64 + k_2 * 32 + 32 + tid / 8 * 96 +
                                tid % 8 * 4] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
                }
                const int slot_k_2_2 = k_2 % 2;
                // 3: (de-)comp( 8, ^, ^ ) ( ^, ^ ; ^ ) ( WRP.y, ^, ^ )
                // 4: (de-)comp( 4, ^, ^ ) ( ^, ^ ; ^ ) ( THR.z, ^, ^ )
                // 5: (de-)comp( 2, 4, ^ ) ( ^, ^ ; ^ ) ( THR.x, THR.y, ^ )
                #pragma unroll
                for (int k_6 = 0; k_6 < 32; ++k_6) {
                    // 6: (de-)comp( ^, ^, 1 ) ( A:RM[1,2], B:RM[1,2] ; ^ ) ( ^, ^, ^ ) @unroll
                    __align__(8) float A_RM_2[2];
                    *(float2 *)&A_RM_2[0] = *(const float2 *)&A_SM[slot_k_2_2 * 636 + k_6 * 20 + wrp_i * 8 +
                            thr_i * 4 + thr_i_2 * 2];
                    __align__(16) float B_RM_2[4];
                    *(float4 *)&B_RM_2[0] = *(const float4 *)&B_SM[slot_k_2_2 * 1024 + k_6 * 32 + thr_j * 4];
                    #pragma unroll
                    for (int i_7 = 0; i_7 < 2; ++i_7) {
                        #pragma unroll
                        for (int j_7 = 0; j_7 < 4; ++j_7)
                            C_RM[i_7 * 4 + j_7] += A_RM_2[i_7] * B_RM_2[j_7];
                    }
                }
                if (k_2 + 1 < 2) {
                    const int fill_8 = (k_2 + 1) % 2;
                    #pragma unroll
                    for (int c_A_round_4 = 0; c_A_round_4 < 2; ++c_A_round_4) {
                        A_SM[fill_8 * 636 + c_A_round_4 * 8 + tid / 8 + tid % 8 * 80] =
                                A_next_2[c_A_round_4 * 4];
                        A_SM[fill_8 * 636 + c_A_round_4 * 8 + 20 + tid / 8 + tid % 8 * 80] =
                                A_next_2[c_A_round_4 * 4 + 1];
                        A_SM[fill_8 * 636 + c_A_round_4 * 8 + 40 + tid / 8 + tid % 8 * 80] =
                                A_next_2[c_A_round_4 * 4 + 2];
                        A_SM[fill_8 * 636 + c_A_round_4 * 8 + 60 + tid / 8 + tid % 8 * 80] =
                                A_next_2[c_A_round_4 * 4 + 3];
                    }
                }
            }
            __syncthreads();  // all slots are free again
            #pragma unroll
            for (int i_7 = 0; i_7 < 2; ++i_7) {
                if (blk_i * 16 + wrp_i * 8 + thr_i * 4 + thr_i_2 * 2 + i_7 < 100 && blk_j * 32 +
                        thr_j * 4 < 100)
                    atomicAdd((float4 *)&C[blk_i * 1600 + wrp_i * 800 + thr_i * 400 + thr_i_2 * 200 +
                            i_7 * 100 + blk_j * 32 + thr_j * 4], *(const float4 *)&C_RM[i_7 * 4]);
            }
        }
    } else {
        // the last part
        // 1: (de-)comp( 16, 32, 64 ) ( ^, ^ ; ^@combine(atomic) ) ( BLK.y, BLK.x, BLK.z )
        __align__(16) float C_RM[8] = {};
        // 2: (de-)comp( ^, ^, 32 )
        //             ( A:SM[2,1]@pad(4), B:SM[1,2]@copy(async) ; C:RM[1,2] )
        //             ( ^, ^, ^ ) @stages(2)
        {
            #pragma unroll
            for (int c_B_round_5 = 0; c_B_round_5 < 4; ++c_B_round_5)
                cp_async_16_if(blk_j * 32 + tid % 8 * 4 < 100, &B_SM[c_B_round_5 * 256 + tid / 8 * 32 +
                        tid % 8 * 4], &B[c_B_round_5 * 800 + blk_j * 32 + 6400 + tid / 8 * 100 +
                        tid % 8 * 4]);
        }
        cp_async_commit();
        {
            #pragma unroll
            for (int c_A_round_5 = 0; c_A_round_5 < 2; ++c_A_round_5) {
                __align__(16) float A_row_3[4];
                *(float4 *)&A_row_3[0] = blk_i * 16 + (tid / 8 + c_A_round_5 * 8) < 100 ?
                        *(const float4 *)&A[blk_i * 1536 + c_A_round_5 * 768 + 64 + tid / 8 * 96 +
                        tid % 8 * 4] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
                #pragma unroll
                for (int lane_3 = 0; lane_3 < 4; ++lane_3)
                    A_SM[lane_3 * 20 + c_A_round_5 * 8 + tid / 8 + tid % 8 * 80] = A_row_3[lane_3];
            }
        }
        {
            cp_async_wait<0>();
            __syncthreads();  // the slot is filled, and the one before it is free
            if (1 < 1) {
                #pragma unroll
                for (int c_B_round_6 = 0; c_B_round_6 < 4; ++c_B_round_6)
                    cp_async_16_if(blk_j * 32 + tid % 8 * 4 < 100, &B_SM[c_B_round_6 * 256 + 1024 +
                            tid / 8 * 32 + tid % 8 * 4], &B[c_B_round_6 * 800 + blk_j * 32 + 9600 +
                            tid / 8 * 100 + tid % 8 * 4]);
            }
            cp_async_commit();
            __align__(16) float A_next_3[8];
            if (1 < 1) {
                #pragma unroll
                for (int c_A_round_6 = 0; c_A_round_6 < 2; ++c_A_round_6)
                    *(float4 *)&A_next_3[c_A_round_6 * 4] = blk_i * 16 + (tid / 8 + c_A_round_6 * 8) < 100 ?
                            *(const float4 *)&A[blk_i * 1536 + c_A_round_6 * 768 + 96 + tid / 8 * 96 +
                            tid % 8 * 4] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
            }
            // 3: (de-)comp( 8, ^, ^ ) ( ^, ^ ; ^ ) ( WRP.y, ^, ^ )
            // 4: (de-)comp( 4, ^, ^ ) ( ^, ^ ; ^ ) ( THR.z, ^, ^ )
            // 5: (de-)comp( 2, 4, ^ ) ( ^, ^ ; ^ ) ( THR.x, THR.y, ^ )
            #pragma unroll
            for (int k_6 = 0; k_6 < 32; ++k_6) {
                // 6: (de-)comp( ^, ^, 1 ) ( A:RM[1,2], B:RM[1,2] ; ^ ) ( ^, ^, ^ ) @unroll
                __align__(8) float A_RM_3[2];
                *(float2 *)&A_RM_3[0] = *(const float2 *)&A_SM[k_6 * 20 + wrp_i * 8 + thr_i * 4 +
                        thr_i_2 * 2];
                __align__(16) float B_RM_3[4];
                *(float4 *)&B_RM_3[0] = *(const float4 *)&B_SM[k_6 * 32 + thr_j * 4];
                #pragma unroll
                for (int i_7 = 0; i_7 < 2; ++i_7) {
                    #pragma unroll
                    for (int j_7 = 0; j_7 < 4; ++j_7)
                        C_RM[i_7 * 4 + j_7] += A_RM_3[i_7] * B_RM_3[j_7];
                }
            }
            if (1 < 1) {
                #pragma unroll
                for (int c_A_round_6 = 0; c_A_round_6 < 2; ++c_A_round_6) {
                    A_SM[c_A_round_6 * 8 + 636 + tid / 8 + tid % 8 * 80] = A_next_3[c_A_round_6 * 4];
                    A_SM[c_A_round_6 * 8 + 656 + tid / 8 + tid % 8 * 80] = A_next_3[c_A_round_6 * 4 + 1];
                    A_SM[c_A_round_6 * 8 + 676 + tid / 8 + tid % 8 * 80] = A_next_3[c_A_round_6 * 4 + 2];
                    A_SM[c_A_round_6 * 8 + 696 + tid / 8 + tid % 8 * 80] = A_next_3[c_A_round_6 * 4 + 3];
                }
            }
        }
        __syncthreads();  // all slots are free again
        #pragma unroll
        for (int i_7 = 0; i_7 < 2; ++i_7) {
            if (blk_i * 16 + wrp_i * 8 + thr_i * 4 + thr_i_2 * 2 + i_7 < 100 && blk_j * 32 + thr_j * 4 < 100)
                atomicAdd((float4 *)&C[blk_i * 1600 + wrp_i * 800 + thr_i * 400 + thr_i_2 * 200 + i_7 * 100 +
                        blk_j * 32 + thr_j * 4], *(const float4 *)&C_RM[i_7 * 4]);
        }
    }
}
