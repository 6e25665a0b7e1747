// For points n: O_j = sum over k, l of A_k * B_l * C_jkl, where most of C is zero. Points lie side by side.
// Sizes: D = 25, N = 2^20 (M. Giles, "CUDA code generation"). `--const C=C.npy` makes code of the loops.
#ifndef D
#define D 25
#endif
#ifndef N
#define N 1048576
#endif

void giles(const float C[D][D][D], const float A[D][N], const float B[D][N], float O[D][N]) {
  for (int n = 0; n < N; n++)
    for (int j = 0; j < D; j++) {
      float sum = 0.0f;
      for (int k = 0; k < D; k++)
        for (int l = 0; l < D; l++)
          sum += A[k][n] * B[l][n] * C[j][k][l];
      O[j][n] = sum;
    }
}
