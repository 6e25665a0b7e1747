void scale(int n, float a, const float x[n], float y[n]) {
  for (int i = 0; i < n; i++)
    y[i] = a * x[i];
}
