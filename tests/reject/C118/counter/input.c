void f(int n, float y[8]) {
  for (n = 0; n < 8; n++)
    y[n] = 1;
}
