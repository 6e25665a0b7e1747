#ifndef K
#define K 8
#endif
void f(float y[K]) { // k elements
  for (int i = 0; i < K; i++)
    y[i] = 1;
}
