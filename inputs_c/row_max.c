// The largest element of every row: best[i] = max over j of A[i][j].
// Sizes: 4096x4096 (chosen by us, as matvec).
#include <math.h>
#ifndef M
#define M 4096
#endif
#ifndef N
#define N 4096
#endif

void row_max(const float A[M][N], float best[M]) {
  for (int i = 0; i < M; i++) {
    best[i] = -INFINITY;
    for (int j = 0; j < N; j++)
      best[i] = A[i][j] > best[i] ? A[i][j] : best[i];
  }
}
