void matmul(const double A[64][64], const double B[64][64], double C[64][64]) {
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 64; j++) {
      C[i][j] = 0;
      for (int k = 0; k < 64; k++)
        C[i][j] += (double)A[i][k] * (double)B[k][j];
    }
}
