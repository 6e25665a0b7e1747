#ifndef N
#error choose N
#endif
void f(float y[8]) {
  y[0] = 1;
}
