// A update of rank two, then products with the new matrix transposed and as it is.
#ifndef N
#define N 2000
#endif

void gemver(double alpha, double beta, double A[N][N], const double u1[N], const double v1[N],
            const double u2[N], const double v2[N], double w[N], double x[N], const double y[N],
            const double z[N]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      A[i][j] += u1[i] * v1[j] + u2[i] * v2[j];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      x[i] += beta * A[j][i] * y[j];
  for (int i = 0; i < N; i++)
    x[i] += z[i];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      w[i] += alpha * A[i][j] * x[j];
}
