// The sum of two products of a matrix and a vector.
// With OpenMP directives, and the promise that arrays are distinct.
#ifndef N
#define N 1300
#endif

void gesummv(double alpha, double beta, const double A[restrict N][N], const double B[restrict N][N],
             const double x[restrict N], double y[restrict N]) {
  #pragma omp parallel for
  for (int i = 0; i < N; i++) {
    double a = 0, b = 0;
    #pragma omp simd reduction(+ : a, b)
    for (int j = 0; j < N; j++) {
      a += A[i][j] * x[j];
      b += B[i][j] * x[j];
    }
    y[i] = alpha * a + beta * b;
  }
}
