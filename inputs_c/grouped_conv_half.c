// Grouped convolution in half precision summed in float, channels last: O[n][p][q][g][f] = sum of
// I[n][p+r][q+s][g][c] * weight[g][f][r][s][c]. Sizes: 32 images of 14x14 outputs, 32 groups of 16 channels, 3x3 (a ResNext layer).
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

void grouped_conv_half(const _Float16 I[N][H + R - 1][W + S - 1][G][C], const _Float16 weight[G][F][R][S][C],
                       _Float16 O[N][H][W][G][F]) {
  for (int n = 0; n < N; n++)
    for (int p = 0; p < H; p++)
      for (int q = 0; q < W; q++)
        for (int g = 0; g < G; g++)
          for (int f = 0; f < F; f++) {
            float sum = 0.0f;
            for (int r = 0; r < R; r++)
              for (int s = 0; s < S; s++)
                for (int c = 0; c < C; c++)
                  sum += (float)I[n][p + r][q + s][g][c] * (float)weight[g][f][r][s][c];
            O[n][p][q][g][f] = (_Float16)sum;
          }
}
