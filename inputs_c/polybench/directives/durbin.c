// The Yule-Walker equations of a Toeplitz matrix, by Levinson and Durbin's recursion.
// With OpenMP directives, and the promise that arrays are distinct.
#ifndef N
#define N 2000
#endif

void durbin(const double r[restrict N], double y[restrict N]) {
  double z[N], alpha = -r[0], beta = 1;
  y[0] = -r[0];
  for (int k = 1; k < N; k++) {
    beta = (1 - alpha * alpha) * beta;
    double sum = 0;
    #pragma omp simd reduction(+ : sum)
    for (int i = 0; i < k; i++)
      sum += r[k - i - 1] * y[i];
    alpha = -(r[k] + sum) / beta;
    #pragma omp simd
    for (int i = 0; i < k; i++)
      z[i] = y[i] + alpha * y[k - i - 1];
    #pragma omp simd
    for (int i = 0; i < k; i++)
      y[i] = z[i];
    y[k] = alpha;
  }
}
