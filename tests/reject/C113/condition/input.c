void f(float y[8], float x[8]) {
  for (int i = 0; i < 8; i++)
    if (x[i] > y[i]) {
      x[i] = 0;
      y[i] = 1;
    }
}
