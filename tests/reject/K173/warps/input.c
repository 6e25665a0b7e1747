void product(const __bf16 A[96][64], const __bf16 B[144][64], float C[96][144]) {
  for (int i = 0; i < 96; i++)
    for (int j = 0; j < 144; j++) {
      float sum = 0;
      for (int k = 0; k < 64; k++)
        sum += (float)A[i][k] * (float)B[j][k];
      C[i][j] = sum;
    }
}
