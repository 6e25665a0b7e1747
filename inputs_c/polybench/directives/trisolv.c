// L x = b by forward substitution.
// No directive of OpenMP helps: each element waits for those before it, and is itself the running sum.
#ifndef N
#define N 2000
#endif

void trisolv(const double L[restrict N][N], double x[restrict N], const double b[restrict N]) {
  for (int i = 0; i < N; i++) {
    x[i] = b[i];
    for (int j = 0; j < i; j++)
      x[i] -= L[i][j] * x[j];
    x[i] = x[i] / L[i][i];
  }
}
