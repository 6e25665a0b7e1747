// The most pairs of bases that an RNA strand folds into. Bases are 0 to 3; a pair adds up to 3.
// No directive of OpenMP helps: each element waits for those below it and to its left.
#ifndef N
#define N 2500
#endif

void nussinov(const int seq[restrict N], int table[restrict N][N]) {
  for (int i = N - 1; i >= 0; i--)
    for (int j = i + 1; j < N; j++) {
      if (table[i][j - 1] > table[i][j])
        table[i][j] = table[i][j - 1];
      if (table[i + 1][j] > table[i][j])
        table[i][j] = table[i + 1][j];
      int paired = table[i + 1][j - 1] + (i < j - 1 && seq[i] + seq[j] == 3 ? 1 : 0);
      if (paired > table[i][j])
        table[i][j] = paired;
      for (int k = i + 1; k < j; k++)
        if (table[i][k] + table[k + 1][j] > table[i][j])
          table[i][j] = table[i][k] + table[k + 1][j];
    }
}
