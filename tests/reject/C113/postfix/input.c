void f(const int x[8], int c[8], float y[8]) {
  for (int i = 0; i < 8; i++)
    y[c[i]++] = x[i];
}
