void f(long n, float y[n]) {
  for (long i = 0; i < n; i++)
    y[i] = 1;
}
