// L x = b by forward substitution.
// With OpenMP directives, and the promise that arrays are distinct.
#ifndef N
#define N 2000
#endif

void trisolv(const double L[restrict N][N], double x[restrict N], const double b[restrict N]) {
  for (int i = 0; i < N; i++) {
    x[i] = b[i];
    #pragma omp simd reduction(+ : x[i : 1])
    for (int j = 0; j < i; j++)
      x[i] -= L[i][j] * x[j];
    x[i] = x[i] / L[i][i];
  }
}
