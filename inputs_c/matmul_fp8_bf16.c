// As matmul_fp8, with a result of 16 bits: the sum is rounded once.
// Sizes: 1024 cubed, as matmul. Needs a compiler with __bf16 (GCC 13, Clang 17).
#include <mdh.h>
#ifndef M
#define M 1024
#endif
#ifndef N
#define N 1024
#endif
#ifndef K
#define K 1024
#endif

void matmul_fp8_bf16(const fp8_e4m3 A[M][K], const fp8_e4m3 B[N][K], __bf16 C[M][N]) {
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      float sum = 0.0f;
      for (int k = 0; k < K; k++)
        sum += fp8_e4m3_to_float(A[i][k]) * fp8_e4m3_to_float(B[j][k]);
      C[i][j] = (__bf16)sum;
    }
}
