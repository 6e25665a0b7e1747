void f(float y[8]) {
  int i = 0;
  for (; i < 8; i++)
    y[i] = 1;
}
