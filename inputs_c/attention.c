// Attention of every head in five nests: scores, their row's maximum, exponentials, their sum, and the weighted sum of values.
// Sizes: 64 heads (batch 4, 16 each), 1024 positions, 64 features (chosen by us: a transformer).
#include <math.h>
#ifndef H
#define H 64
#endif
#ifndef N
#define N 1024
#endif
#ifndef D
#define D 64
#endif

void attention(const float Q[H][N][D], const float K[H][N][D], const float V[H][N][D], float O[H][N][D]) {
  float S[H][N][N], top[H][N], P[H][N][N], total[H][N];
  for (int h = 0; h < H; h++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) {
        S[h][i][j] = 0.0f;
        for (int k = 0; k < D; k++)
          S[h][i][j] += Q[h][i][k] * K[h][j][k];
        S[h][i][j] = S[h][i][j] * 0.125f;
      }
  for (int h = 0; h < H; h++)
    for (int i = 0; i < N; i++) {
      top[h][i] = -INFINITY;
      for (int j = 0; j < N; j++)
        top[h][i] = fmaxf(top[h][i], S[h][i][j]);
    }
  for (int h = 0; h < H; h++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++)
        P[h][i][j] = expf(S[h][i][j] - top[h][i]);
  for (int h = 0; h < H; h++)
    for (int i = 0; i < N; i++) {
      total[h][i] = 0.0f;
      for (int j = 0; j < N; j++)
        total[h][i] += P[h][i][j];
    }
  for (int h = 0; h < H; h++)
    for (int i = 0; i < N; i++)
      for (int d = 0; d < D; d++) {
        O[h][i][d] = 0.0f;
        for (int j = 0; j < N; j++)
          O[h][i][d] += P[h][i][j] * V[h][j][d];
        O[h][i][d] = O[h][i][d] / total[h][i];
      }
}
