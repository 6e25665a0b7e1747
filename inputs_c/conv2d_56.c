// Convolution, channels last, added to O: O[n][p][q][k] += sum of I[n][p+r][q+s][c] * F[k][r][s][c].
// Sizes: 56x56x64 to 64, 3x3 (ResNet-50); with H=7 W=7 C=512 K=512 it is the MCC of TOPLAS 2024 fig. 18.
#ifndef N
#define N 1
#endif
#ifndef H
#define H 56
#endif
#ifndef W
#define W 56
#endif
#ifndef C
#define C 64
#endif
#ifndef K
#define K 64
#endif
#ifndef R
#define R 3
#endif
#ifndef S
#define S 3
#endif

void conv2d_56(const float I[N][H + R - 1][W + S - 1][C], const float F[K][R][S][C], float O[N][H][W][K]) {
  for (int n = 0; n < N; n++)
    for (int p = 0; p < H; p++)
      for (int q = 0; q < W; q++)
        for (int k = 0; k < K; k++)
          for (int r = 0; r < R; r++)
            for (int s = 0; s < S; s++)
              for (int c = 0; c < C; c++)
                O[n][p][q][k] += I[n][p + r][q + s][c] * F[k][r][s][c];
}
