void conv(const __bf16 I[66][66][64], const __bf16 F[64][3][3][64], float O[64][64][64]) {
  for (int p = 0; p < 64; p++)
    for (int q = 0; q < 64; q++)
      for (int k = 0; k < 64; k++) {
        O[p][q][k] = 0;
        for (int r = 0; r < 3; r++)
          for (int s = 0; s < 3; s++)
            for (int c = 0; c < 64; c++)
              O[p][q][k] += (float)I[p + r][q + s][c] * (float)F[k][r][s][c];
      }
}
