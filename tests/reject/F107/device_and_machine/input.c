void scale(const float A[8], float B[8]) {
  for (int i = 0; i < 8; i++)
    B[i] = 2 * A[i];
}
