static float g(float x, float x) { return x * 2; }
void f(const float A[8], float B[8]) {
  for (int i = 0; i < 8; i++)
    B[i] = g(A[i], 1);
}
