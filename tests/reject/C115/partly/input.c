void f(const float A[8], float B[8]) {
  float t[8];
  for (int i = 0; i < 4; i++)
    t[i] = A[i];
  for (int i = 0; i < 8; i++)
    B[i] = A[i] + t[i];
}
