void f(float y[8]) {
  for (int i = 1; i < 8; i *= 2)
    y[i] = 1;
}
