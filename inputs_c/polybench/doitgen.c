// Each row of a three-dimensional array times a matrix, by way of one buffer for a row.
#ifndef NR
#define NR 150
#endif
#ifndef NQ
#define NQ 140
#endif
#ifndef NP
#define NP 160
#endif

void doitgen(double A[NR][NQ][NP], const double C4[NP][NP]) {
  double sum[NP];
  for (int r = 0; r < NR; r++)
    for (int q = 0; q < NQ; q++) {
      for (int p = 0; p < NP; p++) {
        sum[p] = 0;
        for (int s = 0; s < NP; s++)
          sum[p] += A[r][q][s] * C4[s][p];
      }
      for (int p = 0; p < NP; p++)
        A[r][q][p] = sum[p];
    }
}
