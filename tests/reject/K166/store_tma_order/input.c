void conv(const _Float16 I[16][10][32], const _Float16 F[32][3][32], _Float16 O[8][16][32]) {
  for (int p = 0; p < 16; p++)
    for (int q = 0; q < 8; q++)
      for (int k = 0; k < 32; k++) {
        float sum = 0;
        for (int s = 0; s < 3; s++)
          for (int c = 0; c < 32; c++)
            sum += (float)I[p][q + s][c] * (float)F[k][s][c];
        O[q][p][k] = (_Float16)sum;
      }
}
