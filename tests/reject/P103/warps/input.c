void f(const float A[16777216], float B[16777216]) {
  for (int i = 0; i < 16777216; i++)
    B[i] = 2.0f * A[i];
}
