void f(float y[64]) {
  for (unsigned i = 63; i >= 0; i--)
    y[i] = 1;
}
