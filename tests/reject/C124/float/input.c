void f(double y[8]) {
  for (int i = 0; i < 8; i++)
    y[i] = 0x1p99999999;
}
