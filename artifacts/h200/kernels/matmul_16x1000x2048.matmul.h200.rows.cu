__device__ __forceinline__ void cp_async_8(void *dst, const void *src)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;"
                 :: "r"((unsigned)__cvta_generic_to_shared(dst)), "l"(__cvta_generic_to_global(src))
                 : "memory");
}

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

extern "C" __global__ void __launch_bounds__(256)
matmul_init_start(float *C)
{
    asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernels in front have ended
    const int thr_j = threadIdx.x;
    const int blk_i = blockIdx.y;
    const int blk_j = blockIdx.x;
    if (blk_j < 3) {
        // whole tiles
        C[blk_i * 1000 + blk_j * 256 + thr_j] = 0.0f;
    } else {
        // tiles cut by the edge
        if (blk_j * 256 + thr_j < 1000)
            C[blk_i * 1000 + blk_j * 256 + thr_j] = 0.0f;
    }
}

extern "C" __global__ void __launch_bounds__(64, 4)
matmul_init_kernel(const float *A, const float *B, float *C)
{
    __shared__ __align__(16) float A_SM[1150];
    __shared__ __align__(16) float B_SM[4096];
    asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernels in front have ended
    const int tid = (int)threadIdx.z * 32 + ((int)threadIdx.y * 2 + (int)threadIdx.x);
    const int thr_i = threadIdx.z;
    const int thr_i_2 = threadIdx.x;
    const int thr_j = threadIdx.y;
    const int group = (int)blockIdx.x / 2;
    const int in_group = (int)blockIdx.x % 2;
    const int blk_j = group * 2 + in_group % 2;
    const int blk_k = blockIdx.z;
    if (blk_j < 15) {
        // whole tiles
        // 1: (de-)comp( 16, 64, 128 )
        //             ( ^, ^ ; ^@combine(atomic) )
        //             ( BLK.x, BLK.y, BLK.z ) @occupancy(4) @order(grouped(2))
        __align__(16) float C_RM[16] = {};
        // 2: (de-)comp( ^, ^, 16 )
        //             ( A:SM[1,2]@pad(2)@copy(async), B:SM[1,2]@copy(async) ; C:RM[1,2] )
        //             ( ^, ^, FOR.1 ) @stages(4)
        {
            #pragma unroll
            for (int c_A_round = 0; c_A_round < 2; ++c_A_round)
                cp_async_8(&A_SM[c_A_round * 144 + tid / 8 * 18 + tid % 8 * 2], &A[c_A_round * 16384 +
                        blk_k * 128 + tid / 8 * 2048 + tid % 8 * 2]);
            #pragma unroll
            for (int c_B_round = 0; c_B_round < 4; ++c_B_round)
                cp_async_16(&B_SM[c_B_round * 256 + tid / 16 * 64 + tid % 16 * 4], &B[blk_k * 128000 +
                        c_B_round * 4000 + blk_j * 64 + tid / 16 * 1000 + tid % 16 * 4]);
        }
        cp_async_commit();
        {
            #pragma unroll
            for (int c_A_round_2 = 0; c_A_round_2 < 2; ++c_A_round_2)
                cp_async_8(&A_SM[c_A_round_2 * 144 + 288 + tid / 8 * 18 + tid % 8 * 2],
                        &A[c_A_round_2 * 16384 + blk_k * 128 + 16 + tid / 8 * 2048 + tid % 8 * 2]);
            #pragma unroll
            for (int c_B_round_2 = 0; c_B_round_2 < 4; ++c_B_round_2)
                cp_async_16(&B_SM[c_B_round_2 * 256 + 1024 + tid / 16 * 64 + tid % 16 * 4],
                        &B[blk_k * 128000 + c_B_round_2 * 4000 + blk_j * 64 + 16000 + tid / 16 * 1000 +
                        tid % 16 * 4]);
        }
        cp_async_commit();
        {
            #pragma unroll
            for (int c_A_round_3 = 0; c_A_round_3 < 2; ++c_A_round_3)
                cp_async_8(&A_SM[c_A_round_3 * 144 + 576 + tid / 8 * 18 + tid % 8 * 2],
                        &A[c_A_round_3 * 16384 + blk_k * 128 + 32 + tid / 8 * 2048 + tid % 8 * 2]);
            #pragma unroll
            for (int c_B_round_3 = 0; c_B_round_3 < 4; ++c_B_round_3)
                cp_async_16(&B_SM[c_B_round_3 * 256 + 2048 + tid / 16 * 64 + tid % 16 * 4],
                        &B[blk_k * 128000 + c_B_round_3 * 4000 + blk_j * 64 + 32000 + tid / 16 * 1000 +
                        tid % 16 * 4]);
        }
        cp_async_commit();
        for (int k_2 = 0; k_2 < 8; ++k_2) {
            cp_async_wait<2>();
            __syncthreads();  // the slot is filled, and the one before it is free
            if (k_2 + 3 < 8) {
                const int fill_4 = (k_2 + 3) % 4;
                #pragma unroll
                for (int c_A_round_4 = 0; c_A_round_4 < 2; ++c_A_round_4)
                    cp_async_8(&A_SM[fill_4 * 288 + c_A_round_4 * 144 + tid / 8 * 18 + tid % 8 * 2],
                            &A[c_A_round_4 * 16384 + blk_k * 128 + k_2 * 16 + 48 + tid / 8 * 2048 +
                            tid % 8 * 2]);
                #pragma unroll
                for (int c_B_round_4 = 0; c_B_round_4 < 4; ++c_B_round_4)
                    cp_async_16(&B_SM[fill_4 * 1024 + c_B_round_4 * 256 + tid / 16 * 64 + tid % 16 * 4],
                            &B[blk_k * 128000 + k_2 * 16000 + c_B_round_4 * 4000 + blk_j * 64 + 48000 +
                            tid / 16 * 1000 + tid % 16 * 4]);
            }
            cp_async_commit();
            const int slot_k_2 = k_2 % 4;
            // 3: (de-)comp( 8, ^, ^ ) ( ^, ^ ; ^ ) ( THR.z@cyclic(4), ^, ^ )
            // 4: (de-)comp( 4, 4, ^ ) ( ^, ^ ; ^ ) ( THR.x, THR.y, ^ )
            #pragma unroll
            for (int k_5 = 0; k_5 < 2; ++k_5) {
                // 5: (de-)comp( ^, ^, 8 ) ( A:RM[1,2], B:RM[1,2] ; ^ ) ( ^, ^, FOR.1 ) @unroll
                __align__(8) float A_RM[32];
                #pragma unroll
                for (int c_A0 = 0; c_A0 < 4; ++c_A0) {
                    #pragma unroll
                    for (int c_A1 = 0; c_A1 < 8; c_A1 += 2)
                        *(float2 *)&A_RM[c_A0 * 8 + c_A1] = *(const float2 *)&A_SM[slot_k_2 * 288 +
                                thr_i_2 * 144 + thr_i * 72 + c_A0 * 18 + k_5 * 8 + c_A1];
                }
                __align__(16) float B_RM[32];
                #pragma unroll
                for (int c_B0 = 0; c_B0 < 8; ++c_B0)
                    *(float4 *)&B_RM[c_B0 * 4] = *(const float4 *)&B_SM[slot_k_2 * 1024 + k_5 * 512 +
                            c_B0 * 64 + thr_j * 4];
                #pragma unroll
                for (int k_6 = 0; k_6 < 8; ++k_6) {
                    #pragma unroll
                    for (int i_6 = 0; i_6 < 4; ++i_6) {
                        #pragma unroll
                        for (int j_6 = 0; j_6 < 4; ++j_6)
                            C_RM[i_6 * 4 + j_6] += A_RM[i_6 * 8 + k_6] * B_RM[k_6 * 4 + j_6];
                    }
                }
            }
        }
        __syncthreads();  // all slots are free again
        #pragma unroll
        for (int i_6 = 0; i_6 < 4; ++i_6)
            atomicAdd((float4 *)&C[thr_i_2 * 8000 + thr_i * 4000 + i_6 * 1000 + blk_j * 64 + thr_j * 4],
                    *(const float4 *)&C_RM[i_6 * 4]);
    } else {
        // tiles cut by the edge
        // 1: (de-)comp( 16, 64, 128 )
        //             ( ^, ^ ; ^@combine(atomic) )
        //             ( BLK.x, BLK.y, BLK.z ) @occupancy(4) @order(grouped(2))
        __align__(16) float C_RM[16] = {};
        // 2: (de-)comp( ^, ^, 16 )
        //             ( A:SM[1,2]@pad(2)@copy(async), B:SM[1,2]@copy(async) ; C:RM[1,2] )
        //             ( ^, ^, FOR.1 ) @stages(4)
        {
            #pragma unroll
            for (int c_A_round_5 = 0; c_A_round_5 < 2; ++c_A_round_5)
                cp_async_8(&A_SM[c_A_round_5 * 144 + tid / 8 * 18 + tid % 8 * 2], &A[c_A_round_5 * 16384 +
                        blk_k * 128 + tid / 8 * 2048 + tid % 8 * 2]);
            #pragma unroll
            for (int c_B_round_5 = 0; c_B_round_5 < 4; ++c_B_round_5)
                cp_async_16_if(blk_j * 64 + tid % 16 * 4 < 1000, &B_SM[c_B_round_5 * 256 + tid / 16 * 64 +
                        tid % 16 * 4], &B[blk_k * 128000 + c_B_round_5 * 4000 + blk_j * 64 +
                        tid / 16 * 1000 + tid % 16 * 4]);
        }
        cp_async_commit();
        {
            #pragma unroll
            for (int c_A_round_6 = 0; c_A_round_6 < 2; ++c_A_round_6)
                cp_async_8(&A_SM[c_A_round_6 * 144 + 288 + tid / 8 * 18 + tid % 8 * 2],
                        &A[c_A_round_6 * 16384 + blk_k * 128 + 16 + tid / 8 * 2048 + tid % 8 * 2]);
            #pragma unroll
            for (int c_B_round_6 = 0; c_B_round_6 < 4; ++c_B_round_6)
                cp_async_16_if(blk_j * 64 + tid % 16 * 4 < 1000, &B_SM[c_B_round_6 * 256 + 1024 +
                        tid / 16 * 64 + tid % 16 * 4], &B[blk_k * 128000 + c_B_round_6 * 4000 + blk_j * 64 +
                        16000 + tid / 16 * 1000 + tid % 16 * 4]);
        }
        cp_async_commit();
        {
            #pragma unroll
            for (int c_A_round_7 = 0; c_A_round_7 < 2; ++c_A_round_7)
                cp_async_8(&A_SM[c_A_round_7 * 144 + 576 + tid / 8 * 18 + tid % 8 * 2],
                        &A[c_A_round_7 * 16384 + blk_k * 128 + 32 + tid / 8 * 2048 + tid % 8 * 2]);
            #pragma unroll
            for (int c_B_round_7 = 0; c_B_round_7 < 4; ++c_B_round_7)
                cp_async_16_if(blk_j * 64 + tid % 16 * 4 < 1000, &B_SM[c_B_round_7 * 256 + 2048 +
                        tid / 16 * 64 + tid % 16 * 4], &B[blk_k * 128000 + c_B_round_7 * 4000 + blk_j * 64 +
                        32000 + tid / 16 * 1000 + tid % 16 * 4]);
        }
        cp_async_commit();
        for (int k_2 = 0; k_2 < 8; ++k_2) {
            cp_async_wait<2>();
            __syncthreads();  // the slot is filled, and the one before it is free
            if (k_2 + 3 < 8) {
                const int fill_8 = (k_2 + 3) % 4;
                #pragma unroll
                for (int c_A_round_8 = 0; c_A_round_8 < 2; ++c_A_round_8)
                    cp_async_8(&A_SM[fill_8 * 288 + c_A_round_8 * 144 + tid / 8 * 18 + tid % 8 * 2],
                            &A[c_A_round_8 * 16384 + blk_k * 128 + k_2 * 16 + 48 + tid / 8 * 2048 +
                            tid % 8 * 2]);
                #pragma unroll
                for (int c_B_round_8 = 0; c_B_round_8 < 4; ++c_B_round_8)
                    cp_async_16_if(blk_j * 64 + tid % 16 * 4 < 1000, &B_SM[fill_8 * 1024 +
                            c_B_round_8 * 256 + tid / 16 * 64 + tid % 16 * 4], &B[blk_k * 128000 +
                            k_2 * 16000 + c_B_round_8 * 4000 + blk_j * 64 + 48000 + tid / 16 * 1000 +
                            tid % 16 * 4]);
            }
            cp_async_commit();
            const int slot_k_2_2 = k_2 % 4;
            // 3: (de-)comp( 8, ^, ^ ) ( ^, ^ ; ^ ) ( THR.z@cyclic(4), ^, ^ )
            // 4: (de-)comp( 4, 4, ^ ) ( ^, ^ ; ^ ) ( THR.x, THR.y, ^ )
            #pragma unroll
            for (int k_5 = 0; k_5 < 2; ++k_5) {
                // 5: (de-)comp( ^, ^, 8 ) ( A:RM[1,2], B:RM[1,2] ; ^ ) ( ^, ^, FOR.1 ) @unroll
                __align__(8) float A_RM_2[32];
                #pragma unroll
                for (int c_A0_2 = 0; c_A0_2 < 4; ++c_A0_2) {
                    #pragma unroll
                    for (int c_A1_2 = 0; c_A1_2 < 8; c_A1_2 += 2)
                        *(float2 *)&A_RM_2[c_A0_2 * 8 + c_A1_2] = *(const float2 *)&A_SM[slot_k_2_2 * 288 +
                                thr_i_2 * 144 + thr_i * 72 + c_A0_2 * 18 + k_5 * 8 + c_A1_2];
                }
                __align__(16) float B_RM_2[32];
                #pragma unroll
                for (int c_B0_2 = 0; c_B0_2 < 8; ++c_B0_2)
                    *(float4 *)&B_RM_2[c_B0_2 * 4] = *(const float4 *)&B_SM[slot_k_2_2 * 1024 + k_5 * 512 +
                            c_B0_2 * 64 + thr_j * 4];
                #pragma unroll
                for (int k_6 = 0; k_6 < 8; ++k_6) {
                    #pragma unroll
                    for (int i_6 = 0; i_6 < 4; ++i_6) {
                        #pragma unroll
                        for (int j_6 = 0; j_6 < 4; ++j_6)
                            C_RM[i_6 * 4 + j_6] += A_RM_2[i_6 * 8 + k_6] * B_RM_2[k_6 * 4 + j_6];
                    }
                }
            }
        }
        __syncthreads();  // all slots are free again
        #pragma unroll
        for (int i_6 = 0; i_6 < 4; ++i_6) {
            if (blk_j * 64 + thr_j * 4 < 1000)
                atomicAdd((float4 *)&C[thr_i_2 * 8000 + thr_i * 4000 + i_6 * 1000 + blk_j * 64 + thr_j * 4],
                        *(const float4 *)&C_RM[i_6 * 4]);
        }
    }
}
