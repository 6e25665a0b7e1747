void f(const float x[8], float y[8]) {
  for (int i = 0; i < 8; i++) {
    float t = x[i];
    float t = 3;
    y[i] = t;
  }
}
