void f(const float A[16384][16384], const float x[16384], float y[16384]) {
  for (int i = 0; i < 16384; i++)
    for (int k = 0; k < 16384; k++)
      y[i] += A[i][k] * x[k];
}
