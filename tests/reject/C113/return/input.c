void f(int n, float y[8]) {
  if (n > 0) return;
  for (int i = 0; i < 8; i++)
    y[i] = 1;
}
