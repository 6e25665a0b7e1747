void f(float y[8], const float x[8]) {
  for (int i = 0; i < 8; i++) {
    float t;
    for (int j = 0; j < i; j++)
      t = x[j];
    y[i] = t;
  }
}
