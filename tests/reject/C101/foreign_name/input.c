void f(float *y, float größe) {
  for (int i = 0; i < 4; i++) y[i] = größe; }
