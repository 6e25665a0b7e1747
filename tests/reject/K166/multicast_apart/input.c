void matmul(const _Float16 A[512][128], const _Float16 B[128][128], float C[512][128]) {
  for (int i = 0; i < 512; i++)
    for (int j = 0; j < 128; j++) {
      C[i][j] = 0;
      for (int k = 0; k < 128; k++)
        C[i][j] += (float)A[i][k] * (float)B[k][j];
    }
}
