void f(int n, float y[8]) {
  for (int i = 0; i < n; i++)
    y[i] = 1;
}
