void product(const __bf16 A[64][64], const __bf16 B[64][64], float C[64][64]) {
#pragma mdh allow(tf32)
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 64; j++) {
      float sum = 0;
      for (int k = 0; k < 64; k++)
        sum += (float)A[i][k] * (float)B[j][k];
      C[i][j] = sum;
    }
}
