void f(const float x[8], float y[8]) {
  for (int i = 0; i < 8; i++)
    y[0] += x[i] * y[7 - i];
}
