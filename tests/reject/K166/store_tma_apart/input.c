void conv(const _Float16 I[16][9][32], const _Float16 F[32][3][32], _Float16 O[16][7][32]) {
  for (int p = 0; p < 16; p++)
    for (int q = 0; q < 7; q++)
      for (int k = 0; k < 32; k++) {
        float sum = 0;
        for (int s = 0; s < 3; s++)
          for (int c = 0; c < 32; c++)
            sum += (float)I[p][q + s][c] * (float)F[k][s][c];
        O[p][q][k] = (_Float16)sum;
      }
}
