void f(int n, float y[8], const float x[64]) {
  for (int i = 0; i < 8; i++)
    y[i] = x[i + n];
}
