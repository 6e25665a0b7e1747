#ifndef K
#define K 8
#endif
void f(float y[K]) {
  for (int k = 0; k < K; k++)
    y[k] = 1;
}
