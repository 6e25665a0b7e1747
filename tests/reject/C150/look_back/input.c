void f(float y[64]) {
  for (int i = 2; i < 64; i++)
    y[i] = y[i - 1] + y[i - 2];
}
