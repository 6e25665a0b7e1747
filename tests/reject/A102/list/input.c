void scale(int n, float s, const float A[n], float B[n]) {
  for (int i = 0; i < n; i++)
    B[i] = s * A[i];
}
