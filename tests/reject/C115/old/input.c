void f(const float A[8], float m[1]) {
  float t = m[0];
  for (int j = 0; j < 8; j++)
    if (A[j] > t) m[0] = A[j];
}
