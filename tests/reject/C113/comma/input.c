void f(const float x[8], float y[8]) {
  for (int i = 0; i < 8; i++)
    y[i] = (x[i] > 0, x[i]);
}
