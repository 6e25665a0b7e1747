void f(const _Float16 A[8][8][32], const _Float16 B[16][4][32], float C[8][8][16][4]) {
  for (int p = 0; p < 8; p++)
    for (int q = 0; q < 8; q++)
      for (int i = 0; i < 16; i++)
        for (int j = 0; j < 4; j++) {
          C[p][q][i][j] = 0;
          for (int k = 0; k < 32; k++)
            C[p][q][i][j] += (float)A[p][q][k] * (float)B[i][j][k];
        }
}
