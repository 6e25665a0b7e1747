void matmul(const _Float16 A[96][96], const _Float16 B[96][96], float C[96][96]) {
  for (int i = 0; i < 96; i++)
    for (int j = 0; j < 96; j++) {
      C[i][j] = 0;
      for (int k = 0; k < 96; k++)
        C[i][j] += (float)A[i][k] * (float)B[k][j];
    }
}
