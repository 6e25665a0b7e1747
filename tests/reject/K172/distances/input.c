void f(const _Float16 A[64][32], const _Float16 B[64][32], float C[64][64]) {
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 64; j++) {
      C[i][j] = 0;
      for (int k = 0; k < 32; k++)
        C[i][j] += (float)A[63 - i][k] * (float)B[j][k];
    }
}
