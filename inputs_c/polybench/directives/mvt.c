// x1 += A y1 and x2 += A^T y2.
// With OpenMP directives, and the promise that arrays are distinct.
#ifndef N
#define N 2000
#endif

void mvt(double x1[restrict N], double x2[restrict N], const double y1[restrict N],
         const double y2[restrict N], const double A[restrict N][N]) {
  #pragma omp parallel for
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      x1[i] += A[i][j] * y1[j];
  #pragma omp parallel for simd
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      x2[i] += A[j][i] * y2[j];
}
