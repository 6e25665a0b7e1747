void blur(int n, const float x[n], float y[n]) {
  for (int i = 1; i < n - 1; i++)
    y[i] = x[i - 1] + x[i] + x[i + 1];
}
