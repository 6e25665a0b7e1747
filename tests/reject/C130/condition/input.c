void f(float y[8]) {
  for (int i = 0; y[i] > 0; i++)
    y[i] = 1;
}
