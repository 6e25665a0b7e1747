// Product of 8-bit floats, summed in float, B transposed: C[i][j] = sum over k of A[i][k] * B[j][k].
// Sizes: 1024 cubed, as matmul.
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

void matmul_fp8(const fp8_e4m3 A[M][K], const fp8_e4m3 B[N][K], float C[M][N]) {
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      C[i][j] = 0.0f;
      for (int k = 0; k < K; k++)
        C[i][j] += fp8_e4m3_to_float(A[i][k]) * fp8_e4m3_to_float(B[j][k]);
    }
}
