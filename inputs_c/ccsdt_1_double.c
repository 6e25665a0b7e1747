// CCSD(T) triples in double precision, contraction 1 of 8: X[abcdef] = sum over g of lhs[gdab] * rhs[efgc].
// Sizes: TCCG's for abcdef-gdab-efgc, a to g = 24, 16, 16, 16, 24, 16, 24 (TOPLAS 2024 fig. 19).
#ifndef A
#define A 24
#endif
#ifndef B
#define B 16
#endif
#ifndef C
#define C 16
#endif
#ifndef D
#define D 16
#endif
#ifndef E
#define E 24
#endif
#ifndef F
#define F 16
#endif
#ifndef G
#define G 24
#endif

void ccsdt_1_double(const double lhs[G][D][A][B], const double rhs[E][F][G][C],
                    double X[A][B][C][D][E][F]) {
  for (int a = 0; a < A; a++)
    for (int b = 0; b < B; b++)
      for (int c = 0; c < C; c++)
        for (int d = 0; d < D; d++)
          for (int e = 0; e < E; e++)
            for (int f = 0; f < F; f++) {
              X[a][b][c][d][e][f] = 0.0;
              for (int g = 0; g < G; g++)
                X[a][b][c][d][e][f] += lhs[g][d][a][b] * rhs[e][f][g][c];
            }
}
