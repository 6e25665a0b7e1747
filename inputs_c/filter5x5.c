// A filter with given weights over one channel: O[p][q] = sum over r, s of I[p+r][q+s] * F[r][s].
// Sizes: 4096x4096 with 5x5 weights (TOPLAS 2024 fig. 18, Conv2D); the figure's other case is 224x224.
#ifndef H
#define H 4096
#endif
#ifndef W
#define W 4096
#endif
#ifndef R
#define R 5
#endif
#ifndef S
#define S 5
#endif

void filter5x5(const float I[H + R - 1][W + S - 1], const float F[R][S], float O[H][W]) {
  for (int p = 0; p < H; p++)
    for (int q = 0; q < W; q++) {
      float sum = 0.0f;
      for (int r = 0; r < R; r++)
        for (int s = 0; s < S; s++)
          sum += I[p + r][q + s] * F[r][s];
      O[p][q] = sum;
    }
}
