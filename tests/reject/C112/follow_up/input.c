void f(const float x[8], float y[8], float z[8]) {
  for (int i = 0; i < 8; i++) {
    float t = rsqrtf(x[i]);
    float u = t * t;
    y[i] = t + u;
    z[i] = x[i] % 2;
  }
}
