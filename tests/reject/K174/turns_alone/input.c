void matmul(const _Float16 A[256][128], const _Float16 B[128][256], float C[256][256]) {
  for (int i = 0; i < 256; i++)
    for (int j = 0; j < 256; j++) {
      C[i][j] = 0;
      for (int k = 0; k < 128; k++)
        C[i][j] += (float)A[i][k] * (float)B[k][j];
    }
}
