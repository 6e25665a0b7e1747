void matmul(const _Float16 A[64][128], const _Float16 B[64][64], float C[64][64]) {
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 64; j++) {
      C[i][j] = 0;
      for (int k = 0; k < 64; k++)
        C[i][j] += (float)A[i][2 * k] * (float)B[k][j];
    }
}
