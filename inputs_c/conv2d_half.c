// Half-precision convolution summed in float, channels last: O[n][p][q][k] = sum of
// I[n][STRIDE*p+r][STRIDE*q+s][c] * F[k][r][s][c]. Sizes: 28x28x128 to 128, 3x3 (ResNet-50).
#ifndef N
#define N 1
#endif
#ifndef H
#define H 28
#endif
#ifndef W
#define W 28
#endif
#ifndef C
#define C 128
#endif
#ifndef K
#define K 128
#endif
#ifndef R
#define R 3
#endif
#ifndef S
#define S 3
#endif
#ifndef STRIDE
#define STRIDE 1
#endif

void conv2d_half(const _Float16 I[N][STRIDE * H + R - 1][STRIDE * W + S - 1][C], const _Float16 F[K][R][S][C],
                 _Float16 O[N][H][W][K]) {
  for (int n = 0; n < N; n++)
    for (int p = 0; p < H; p++)
      for (int q = 0; q < W; q++)
        for (int k = 0; k < K; k++) {
          float sum = 0.0f;
          for (int r = 0; r < R; r++)
            for (int s = 0; s < S; s++)
              for (int c = 0; c < C; c++)
                sum += (float)I[n][STRIDE * p + r][STRIDE * q + s][c] * (float)F[k][r][s][c];
          O[n][p][q][k] = (_Float16)sum;
        }
}
