void matmul(const _Float16 A[192][192], const _Float16 B[192][192], float C[192][192]) {
  for (int i = 0; i < 192; i++)
    for (int j = 0; j < 192; j++) {
      C[i][j] = 0;
      for (int k = 0; k < 192; k++)
        C[i][j] += (float)A[i][k] * (float)B[k][j];
    }
}
