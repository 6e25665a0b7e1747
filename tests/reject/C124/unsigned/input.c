void f(long y[8]) {
  for (int i = 0; i < 8; i++)
    y[i] = 9223372036854775808;
}
