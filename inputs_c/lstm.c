// A layer of long short-term memory: in each step gates i, f, o and a candidate g; c is the cell, h the state, both given at 0.
// Sizes: a sequence of 100 steps, 64 sentences, 512 features in and out.
#include <math.h>
#ifndef T
#define T 100
#endif
#ifndef B
#define B 64
#endif
#ifndef D
#define D 512
#endif
#ifndef H
#define H 512
#endif

static float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }

void lstm(const float x[T][B][D], const float W[4][D][H], const float U[4][H][H], const float bias[4][H],
          float h[T + 1][B][H], float c[T + 1][B][H]) {
  for (int t = 0; t < T; t++)
    for (int b = 0; b < B; b++)
      for (int n = 0; n < H; n++) {
        float i = bias[0][n], f = bias[1][n], g = bias[2][n], o = bias[3][n];
        for (int k = 0; k < D; k++) {
          i += x[t][b][k] * W[0][k][n];
          f += x[t][b][k] * W[1][k][n];
          g += x[t][b][k] * W[2][k][n];
          o += x[t][b][k] * W[3][k][n];
        }
        for (int k = 0; k < H; k++) {
          i += h[t][b][k] * U[0][k][n];
          f += h[t][b][k] * U[1][k][n];
          g += h[t][b][k] * U[2][k][n];
          o += h[t][b][k] * U[3][k][n];
        }
        c[t + 1][b][n] = sigmoid(f) * c[t][b][n] + sigmoid(i) * tanhf(g);
        h[t + 1][b][n] = sigmoid(o) * tanhf(c[t + 1][b][n]);
      }
}
