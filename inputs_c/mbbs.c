// Maximum bottom box sum: the largest prefix sum of the row sums of A (Farzan and Nicolet, PLDI 2019).
// Sizes: 4096x4096 (no published measurement; TOPLAS 2024 fig. 14 gives the expression, MBBS).
#ifndef N
#define N 4096
#endif
#ifndef M
#define M 4096
#endif

void mbbs(const int A[N][M], int best[1]) {
  int row[N], prefix[N];
  for (int i = 0; i < N; i++) {
    row[i] = 0;
    for (int j = 0; j < M; j++)
      row[i] += A[i][j];
  }
  int sum = 0;
  for (int i = 0; i < N; i++) {
    sum += row[i];
    prefix[i] = sum;
  }
  best[0] = prefix[0];
  for (int i = 0; i < N; i++)
    if (prefix[i] > best[0])
      best[0] = prefix[i];
}
