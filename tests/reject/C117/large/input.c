void f(long n, float y[n]) {
  for (int i = 0; i < 8; i++)
    y[i] = 1;
}
