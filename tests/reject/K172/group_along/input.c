void f(const __bf16 A[64][8][16], const __bf16 B[64][64], float C[8][16][64]) {
  for (int p = 0; p < 8; p++)
    for (int q = 0; q < 16; q++)
      for (int j = 0; j < 64; j++) {
        C[p][q][j] = 0;
        for (int k = 0; k < 64; k++)
          C[p][q][j] += (float)A[k][p][q] * (float)B[j][k];
      }
}
