// Two electric fields and a magnetic one in a plane, by finite differences in time.
// With OpenMP directives, and the promise that arrays are distinct.
#ifndef NX
#define NX 1000
#endif
#ifndef NY
#define NY 1200
#endif
#ifndef T
#define T 500
#endif

void fdtd_2d(double ex[restrict NX][NY], double ey[restrict NX][NY], double hz[restrict NX][NY],
             const double source[restrict T]) {
  for (int t = 0; t < T; t++) {
    #pragma omp simd
    for (int j = 0; j < NY; j++)
      ey[0][j] = source[t];
    #pragma omp parallel for
    for (int i = 1; i < NX; i++)
      #pragma omp simd
      for (int j = 0; j < NY; j++)
        ey[i][j] -= 0.5 * (hz[i][j] - hz[i - 1][j]);
    #pragma omp parallel for
    for (int i = 0; i < NX; i++)
      #pragma omp simd
      for (int j = 1; j < NY; j++)
        ex[i][j] -= 0.5 * (hz[i][j] - hz[i][j - 1]);
    #pragma omp parallel for
    for (int i = 0; i < NX - 1; i++)
      #pragma omp simd
      for (int j = 0; j < NY - 1; j++)
        hz[i][j] -= 0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
  }
}
