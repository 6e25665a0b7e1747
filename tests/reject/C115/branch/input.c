void f(float y[8], const float x[8]) {
  for (int i = 0; i < 8; i++) {
    float t;
    if (x[i] > 0)
      t = x[i];
    y[i] = t;
  }
}
