#if -7 % 3 == -1
#define A 1
#else
#define A 0
#endif
void f(int y[8]) {
  for (int i = 0; i < 8; i++)
    y[i] = A;
}
