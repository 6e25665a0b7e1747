// Layers of a small network, and its loss. mdh derives the programs of their gradients.
#include <math.h>

// y = ramp(x w + b)
void dense_ramp(int B, int I, int O, const float x[B][I], const float w[I][O], const float b[O], float y[B][O]) {
  for (int n = 0; n < B; n++)
    for (int o = 0; o < O; o++) {
      y[n][o] = b[o];
      for (int i = 0; i < I; i++)
        y[n][o] += x[n][i] * w[i][o];
      y[n][o] = y[n][o] > 0.0f ? y[n][o] : 0.0f;
    }
}

// y = x w + b
void dense(int B, int I, int O, const float x[B][I], const float w[I][O], const float b[O], float y[B][O]) {
  for (int n = 0; n < B; n++)
    for (int o = 0; o < O; o++) {
      y[n][o] = b[o];
      for (int i = 0; i < I; i++)
        y[n][o] += x[n][i] * w[i][o];
    }
}

// The cross entropy of each row's softmax and its label.
void cross_entropy(int B, int C, const float z[B][C], const int label[B], float loss[B]) {
  float top[B], total[B];
  for (int n = 0; n < B; n++) {
    top[n] = -INFINITY;
    for (int c = 0; c < C; c++)
      top[n] = fmaxf(top[n], z[n][c]);
  }
  for (int n = 0; n < B; n++) {
    total[n] = 0.0f;
    for (int c = 0; c < C; c++)
      total[n] += expf(z[n][c] - top[n]);
  }
  for (int n = 0; n < B; n++)
    loss[n] = logf(total[n]) + top[n] - z[n][label[n]];
}
