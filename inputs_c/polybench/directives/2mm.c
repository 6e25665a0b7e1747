// D = alpha A B C + beta D.
// With OpenMP directives, and the promise that arrays are distinct.
#ifndef NI
#define NI 800
#endif
#ifndef NJ
#define NJ 900
#endif
#ifndef NK
#define NK 1100
#endif
#ifndef NL
#define NL 1200
#endif

void mm2(double alpha, double beta, double tmp[restrict NI][NJ], const double A[restrict NI][NK],
         const double B[restrict NK][NJ], const double C[restrict NJ][NL], double D[restrict NI][NL]) {
  #pragma omp parallel for
  for (int i = 0; i < NI; i++)
    #pragma omp simd
    for (int j = 0; j < NJ; j++) {
      tmp[i][j] = 0;
      for (int k = 0; k < NK; k++)
        tmp[i][j] += alpha * A[i][k] * B[k][j];
    }
  #pragma omp parallel for
  for (int i = 0; i < NI; i++)
    #pragma omp simd
    for (int j = 0; j < NL; j++) {
      D[i][j] *= beta;
      for (int k = 0; k < NJ; k++)
        D[i][j] += tmp[i][k] * C[k][j];
    }
}
