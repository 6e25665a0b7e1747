// The sum of two products of a matrix and a vector.
#ifndef N
#define N 1300
#endif

void gesummv(double alpha, double beta, const double A[N][N], const double B[N][N], const double x[N],
             double y[N]) {
  for (int i = 0; i < N; i++) {
    double a = 0, b = 0;
    for (int j = 0; j < N; j++) {
      a += A[i][j] * x[j];
      b += B[i][j] * x[j];
    }
    y[i] = alpha * a + beta * b;
  }
}
