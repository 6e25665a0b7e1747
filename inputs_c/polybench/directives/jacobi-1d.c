// The mean of three neighbours, there and back between two rows.
// With OpenMP directives, and the promise that arrays are distinct.
#ifndef N
#define N 2000
#endif
#ifndef T
#define T 500
#endif

void jacobi_1d(double A[restrict N], double B[restrict N]) {
  for (int t = 0; t < T; t++) {
    #pragma omp simd
    for (int i = 1; i < N - 1; i++)
      B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1]);
    #pragma omp simd
    for (int i = 1; i < N - 1; i++)
      A[i] = 0.33333 * (B[i - 1] + B[i] + B[i + 1]);
  }
}
