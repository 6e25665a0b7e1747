void matmul(const _Float16 A[256][64], const _Float16 B[64][160], float C[256][160]) {
  for (int i = 0; i < 256; i++)
    for (int j = 0; j < 160; j++) {
      C[i][j] = 0;
      for (int k = 0; k < 64; k++)
        C[i][j] += (float)A[i][k] * (float)B[k][j];
    }
}
