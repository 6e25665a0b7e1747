void f(const _Float16 A[64][6][24], const _Float16 B[32][6][24], float C[64][32]) {
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 32; j++) {
      C[i][j] = 0;
      for (int s = 0; s < 6; s++)
        for (int c = 0; c < 24; c++)
          C[i][j] += (float)A[i][s][c] * (float)B[j][s][c];
    }
}
