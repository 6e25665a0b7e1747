void f(int n, float y[n]) {
  for (int i = 0; i < n; i++)
    y[i] = 1;
}
