// The largest element of every row and the first place where it stands.
// Sizes: 4096x4096 (chosen by us, as matvec).
#include <math.h>
#ifndef M
#define M 4096
#endif
#ifndef N
#define N 4096
#endif

void row_argmax(const float A[M][N], float best[M], int place[M]) {
  for (int i = 0; i < M; i++) {
    best[i] = -INFINITY;
    place[i] = -1;
    for (int j = 0; j < N; j++)
      if (A[i][j] > best[i]) {
        best[i] = A[i][j];
        place[i] = j;
      }
  }
}
