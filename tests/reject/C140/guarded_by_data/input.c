void f(float y[8], const float x[8]) {
  for (int i = 0; i < 8; i++)
    if (x[i] > 0 && i > 2)
      y[i + 1] = x[i];
}
