void sums(const float A[256][64], float s[256]) {
  for (int i = 0; i < 256; i++)
    for (int k = 0; k < 64; k++)
      s[i] += A[i][k];
}
