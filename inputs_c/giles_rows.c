// For points n: O_j = sum over k, l of A_k * B_l * C_jkl, where most of C is zero. Rows are points.
// Sizes: D = 25, N = 2^20 (M. Giles, "CUDA code generation"). `--const C=C.npy` makes code of the loops.
#ifndef D
#define D 25
#endif
#ifndef N
#define N 1048576
#endif

void giles_rows(const float C[D][D][D], const float A[N][D], const float B[N][D], float O[N][D]) {
  for (int n = 0; n < N; n++)
    for (int j = 0; j < D; j++) {
      float sum = 0.0f;
      for (int k = 0; k < D; k++)
        for (int l = 0; l < D; l++)
          sum += A[n][k] * B[n][l] * C[j][k][l];
      O[n][j] = sum;
    }
}
