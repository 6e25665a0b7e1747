void f(float x[64]) {
  for (int i = 1; i < 64; i++)
    x[i] = 0.5f * x[i - 1] + 1;
}
