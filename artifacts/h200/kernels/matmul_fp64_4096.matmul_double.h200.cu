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

extern "C" __global__ void __launch_bounds__(64)
matmul_double_kernel(const double *A, const double *B, double *C)
{
    __shared__ __align__(16) double A_SM[2108];
    __shared__ __align__(16) double B_SM[2048];
    asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernels in front have ended
    const int tid = threadIdx.x;
    const int wrp_i = tid / 32;
    const int thr_i = tid % 4;
    const int thr_j = tid / 4 % 8;
    const int group = (int)blockIdx.x / 256;
    const int in_group = (int)blockIdx.x % 256;
    const int blk_i = group * 4 + in_group % 4;
    const int blk_j = in_group / 4;
    // 1: (de-)comp( 64, 64, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ ) @order(grouped(4))
    __align__(16) double C_RM[64] = {};
    // 2: (de-)comp( ^, ^, 16 )
    //             ( A:SM[2,1]@pad(2)@copy(async), B:SM[1,2]@copy(async) ; C:RM[1,2] )
    //             ( ^, ^, FOR.1 ) @stages(2)
    {
        #pragma unroll
        for (int c_A_round = 0; c_A_round < 16; ++c_A_round)
            cp_async_8(&A_SM[c_A_round * 4 + tid / 16 + tid % 16 * 66], &A[blk_i * 262144 +
                    c_A_round * 16384 + tid / 16 * 4096 + tid % 16]);
        #pragma unroll
        for (int c_B_round = 0; c_B_round < 8; ++c_B_round)
            cp_async_16(&B_SM[c_B_round * 128 + tid / 32 * 64 + tid % 32 * 2], &B[c_B_round * 8192 +
                    blk_j * 64 + tid / 32 * 4096 + tid % 32 * 2]);
    }
    cp_async_commit();
    for (int k_2 = 0; k_2 < 256; ++k_2) {
        cp_async_wait<0>();
        __syncthreads();  // the slot is filled, and the one before it is free
        if (k_2 + 1 < 256) {
            const int fill_2 = (k_2 + 1) % 2;
            #pragma unroll
            for (int c_A_round_2 = 0; c_A_round_2 < 16; ++c_A_round_2)
                cp_async_8(&A_SM[fill_2 * 1054 + c_A_round_2 * 4 + tid / 16 + tid % 16 * 66],
                        &A[blk_i * 262144 + c_A_round_2 * 16384 + k_2 * 16 + 16 + tid / 16 * 4096 +
                        tid % 16]);
            #pragma unroll
            for (int c_B_round_2 = 0; c_B_round_2 < 8; ++c_B_round_2)
                cp_async_16(&B_SM[fill_2 * 1024 + c_B_round_2 * 128 + tid / 32 * 64 + tid % 32 * 2],
                        &B[k_2 * 65536 + c_B_round_2 * 8192 + blk_j * 64 + 65536 + tid / 32 * 4096 +
                        tid % 32 * 2]);
        }
        cp_async_commit();
        const int slot_k_2 = k_2 % 2;
        // 3: (de-)comp( 32, 64, ^ ) ( ^, ^ ; ^ ) ( WRP.x, ^, ^ )
        // 4: (de-)comp( 8, 8, ^ ) ( ^, ^ ; ^ ) ( THR.x@cyclic(2), THR.y@cyclic(2), ^ )
        #pragma unroll
        for (int k_5 = 0; k_5 < 16; ++k_5) {
            // 5: (de-)comp( ^, ^, 1 ) ( A:RM[1,2], B:RM[1,2] ; ^ ) ( ^, ^, FOR.1 ) @unroll
            __align__(16) double A_RM[8];
            #pragma unroll
            for (int c_A0 = 0; c_A0 < 8; c_A0 += 2)
                *(double2 *)&A_RM[c_A0] = *(const double2 *)&A_SM[slot_k_2 * 1054 + k_5 * 66 + wrp_i * 32 +
                        thr_i * 2 + c_A0 / 2 * 8 + c_A0 % 2];
            __align__(16) double B_RM[8];
            #pragma unroll
            for (int c_B1 = 0; c_B1 < 8; c_B1 += 2)
                *(double2 *)&B_RM[c_B1] = *(const double2 *)&B_SM[slot_k_2 * 1024 + k_5 * 64 + thr_j * 2 +
                        c_B1 / 2 * 16 + c_B1 % 2];
            #pragma unroll
            for (int i_6h = 0; i_6h < 4; ++i_6h) {
                #pragma unroll
                for (int i_6l = 0; i_6l < 2; ++i_6l) {
                    #pragma unroll
                    for (int j_6h = 0; j_6h < 4; ++j_6h) {
                        #pragma unroll
                        for (int j_6l = 0; j_6l < 2; ++j_6l)
                            C_RM[i_6h * 16 + i_6l * 8 + j_6h * 2 + j_6l] += A_RM[i_6h * 2 +
                                    i_6l] * B_RM[j_6h * 2 + j_6l];
                    }
                }
            }
        }
    }
    __syncthreads();  // all slots are free again
    #pragma unroll
    for (int i_6h = 0; i_6h < 4; ++i_6h) {
        #pragma unroll
        for (int i_6l = 0; i_6l < 2; ++i_6l) {
            #pragma unroll
            for (int j_6h = 0; j_6h < 4; ++j_6h)
                *(double2 *)&C[blk_i * 262144 + wrp_i * 131072 + i_6h * 32768 + thr_i * 8192 + i_6l * 4096 +
                        blk_j * 64 + j_6h * 16 + thr_j * 2] = *(const double2 *)&C_RM[i_6h * 16 + i_6l * 8 +
                        j_6h * 2];
        }
    }
}
