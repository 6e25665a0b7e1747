void f(const float x[8]) {
  for (int i = 0; i < 8; i++)
    Y[i] = x[i];
}
