void matmul(const signed char A[256][128], const signed char B[128][256], int C[256][256]) {
  for (int i = 0; i < 256; i++)
    for (int j = 0; j < 256; j++) {
      C[i][j] = 0;
      for (int k = 0; k < 128; k++)
        C[i][j] += (int)A[i][k] * (int)B[k][j];
    }
}
