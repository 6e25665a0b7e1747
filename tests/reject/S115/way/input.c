void blur(const float A[66], float O[62]) {
  float T[64];
  for (int i = 0; i < 64; i++)
    T[i] = (A[i] + A[i + 1] + A[i + 2]) / 3;
  for (int i = 0; i < 62; i++)
    O[i] = (T[i] + T[i + 1] + T[i + 2]) / 3;
}
