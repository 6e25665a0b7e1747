enum { BIG = 0x80000000 };
void f(long y[8]) {
  for (int i = 0; i < 8; i++)
    y[i] = BIG;
}
