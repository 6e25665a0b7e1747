void matmul(const _Float16 A[128][96], const _Float16 B[768][96], float C[128][768]) {
  for (int i = 0; i < 128; i++)
    for (int j = 0; j < 768; j++) {
      C[i][j] = 0;
      for (int k = 0; k < 96; k++)
        C[i][j] += (float)A[i][k] * (float)B[j][k];
    }
}
