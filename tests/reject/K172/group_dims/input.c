void product(const _Float16 A[256][128], const _Float16 B[128][256][16], float C[256][256][16]) {
  for (int i = 0; i < 256; i++)
    for (int j = 0; j < 256; j++)
      for (int l = 0; l < 16; l++) {
        C[i][j][l] = 0;
        for (int k = 0; k < 128; k++)
          C[i][j][l] += (float)A[i][k] * (float)B[k][j][l];
      }
}
