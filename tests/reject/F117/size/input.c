void scale(int n, const float A[n], float B[n]) {
  for (int i = 0; i < n; i++)
    B[i] = 2 * A[i];
}
