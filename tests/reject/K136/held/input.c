#include <math.h>
void rows(const float A[8][40], float total[8]) {
  float top[8];
  for (int i = 0; i < 8; i++) {
    top[i] = -INFINITY;
    for (int j = 0; j < 40; j++)
      top[i] = fmaxf(top[i], A[i][j]);
  }
  for (int i = 0; i < 8; i++) {
    total[i] = 0;
    for (int j = 0; j < 40; j++)
      total[i] += expf(A[i][j] - top[i]);
  }
}
