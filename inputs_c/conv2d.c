// Strided convolution, channels last: O[n][p][q][k] = sum of I[n][2p+r][2q+s][c] * F[k][r][s][c].
// Sizes: ResNet-50's first layer, 230x230x3 to 112x112x64, 7x7 (TOPLAS 2024 fig. 21, MCC; reconstructed).
#ifndef N
#define N 1
#endif
#ifndef H
#define H 112
#endif
#ifndef W
#define W 112
#endif
#ifndef C
#define C 3
#endif
#ifndef K
#define K 64
#endif
#ifndef R
#define R 7
#endif
#ifndef S
#define S 7
#endif
#ifndef STRIDE
#define STRIDE 2
#endif

void conv2d(const float I[N][STRIDE * H + R - 1][STRIDE * W + S - 1][C], const float F[K][R][S][C],
            float O[N][H][W][K]) {
  for (int n = 0; n < N; n++)
    for (int p = 0; p < H; p++)
      for (int q = 0; q < W; q++)
        for (int k = 0; k < K; k++) {
          O[n][p][q][k] = 0.0f;
          for (int r = 0; r < R; r++)
            for (int s = 0; s < S; s++)
              for (int c = 0; c < C; c++)
                O[n][p][q][k] += I[n][STRIDE * p + r][STRIDE * q + s][c] * F[k][r][s][c];
        }
}
