void f(double y[8]) {
  for (int i = 0; i < 8; i++)
    y[i] = y[i] * 0.1L;
}
