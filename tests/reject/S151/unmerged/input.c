void f(float y[32], const float A[32][64], float x[32]) {
  for (int i = 0; i < 32; i++) {
    y[i] = 0;
    for (int k = 0; k < 64; k++)
      y[i] += A[i][k] * x[i];
  }
  for (int i = 0; i < 32; i++)
    x[i] = y[31 - i];
}
