// Product of 8-bit integers, summed exactly in 32 bits, B transposed: C[i][j] = sum over k of A[i][k] * B[j][k].
// Sizes: 1024 cubed, as matmul.
#include <stdint.h>
#ifndef M
#define M 1024
#endif
#ifndef N
#define N 1024
#endif
#ifndef K
#define K 1024
#endif

void matmul_int8_t(const int8_t A[M][K], const int8_t B[N][K], int32_t C[M][N]) {
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      int32_t sum = 0;
      for (int k = 0; k < K; k++)
        sum += (int32_t)A[i][k] * B[j][k];
      C[i][j] = sum;
    }
}
