// CCSD(T) triples, contraction 2 of 8: X[abcdef] = sum over g of lhs[gdac] * rhs[efgb].
// Sizes: TCCG's for abcdef-gdac-efgb, a to g = 24, 16, 16, 16, 24, 16, 24 (TOPLAS 2024 fig. 19).
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

void ccsdt_2(const float lhs[G][D][A][C], const float rhs[E][F][G][B], float X[A][B][C][D][E][F]) {
  for (int a = 0; a < A; a++)
    for (int b = 0; b < B; b++)
      for (int c = 0; c < C; c++)
        for (int d = 0; d < D; d++)
          for (int e = 0; e < E; e++)
            for (int f = 0; f < F; f++) {
              X[a][b][c][d][e][f] = 0.0f;
              for (int g = 0; g < G; g++)
                X[a][b][c][d][e][f] += lhs[g][d][a][c] * rhs[e][f][g][b];
            }
}
