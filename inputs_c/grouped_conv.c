// Grouped convolution: O[n][g][f][p][q] = sum of I[n][g][c][p+r][q+s] * weight[g][f][c][r][s].
// Sizes: N, G, C, F = 32, 32, 16, 16 at 14x14 outputs, 3x3 (Tensor Comprehensions 2018, a ResNext layer).
#ifndef N
#define N 32
#endif
#ifndef G
#define G 32
#endif
#ifndef C
#define C 16
#endif
#ifndef F
#define F 16
#endif
#ifndef H
#define H 14
#endif
#ifndef W
#define W 14
#endif
#ifndef R
#define R 3
#endif
#ifndef S
#define S 3
#endif

void grouped_conv(const float I[N][G][C][H + R - 1][W + S - 1], const float weight[G][F][C][R][S],
                  float O[N][G][F][H][W]) {
  for (int n = 0; n < N; n++)
    for (int g = 0; g < G; g++)
      for (int f = 0; f < F; f++)
        for (int p = 0; p < H; p++)
          for (int q = 0; q < W; q++) {
            O[n][g][f][p][q] = 0.0f;
            for (int c = 0; c < C; c++)
              for (int r = 0; r < R; r++)
                for (int s = 0; s < S; s++)
                  O[n][g][f][p][q] += I[n][g][c][p + r][q + s] * weight[g][f][c][r][s];
          }
}
