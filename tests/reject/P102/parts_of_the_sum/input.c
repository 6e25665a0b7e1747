void f(const float A[4096][4096], const float x[4096], float y[4096]) {
  for (int i = 0; i < 4096; i++)
    for (int k = 0; k < 4096; k++)
      y[i] += A[i][k] * x[k];
}
