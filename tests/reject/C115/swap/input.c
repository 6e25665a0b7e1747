void f(float x[8], float y[8]) {
  for (int i = 0; i < 8; i++) {
    float t = x[i];
    x[i] = y[i];
    y[i] = t;
  }
}
