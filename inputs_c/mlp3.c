// Three layers of a perceptron, each a product of matrices, a bias and a ramp.
// Sizes: 128 inputs of 128 values, layers of 64, 32 and 2 (MLP3 of the Tensor Comprehensions paper).
#ifndef B
#define B 128
#endif
#ifndef M
#define M 128
#endif
#ifndef N
#define N 64
#endif
#ifndef O
#define O 32
#endif
#ifndef P
#define P 2
#endif

static float ramp(float x) { return x > 0.0f ? x : 0.0f; }

void mlp3(const float X[B][M], const float W1[M][N], const float b1[N], const float W2[N][O],
          const float b2[O], const float W3[O][P], const float b3[P], float Y[B][P]) {
  float H1[B][N], H2[B][O];
  for (int b = 0; b < B; b++)
    for (int n = 0; n < N; n++) {
      H1[b][n] = 0.0f;
      for (int m = 0; m < M; m++)
        H1[b][n] += X[b][m] * W1[m][n];
      H1[b][n] = ramp(H1[b][n] + b1[n]);
    }
  for (int b = 0; b < B; b++)
    for (int o = 0; o < O; o++) {
      H2[b][o] = 0.0f;
      for (int n = 0; n < N; n++)
        H2[b][o] += H1[b][n] * W2[n][o];
      H2[b][o] = ramp(H2[b][o] + b2[o]);
    }
  for (int b = 0; b < B; b++)
    for (int p = 0; p < P; p++) {
      Y[b][p] = 0.0f;
      for (int o = 0; o < O; o++)
        Y[b][p] += H2[b][o] * W3[o][p];
      Y[b][p] = ramp(Y[b][p] + b3[p]);
    }
}
