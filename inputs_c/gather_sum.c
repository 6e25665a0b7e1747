// Embedding bag: O[b][d] = sum over l of E[I[b][l]][d], the rows of a table that an index array names.
// Sizes: 2048 bags of 50 rows of 64 floats out of 100000 (chosen by us: a recommendation model's shape).
#ifndef BAGS
#define BAGS 2048
#endif
#ifndef LENGTH
#define LENGTH 50
#endif
#ifndef ROWS
#define ROWS 100000
#endif
#ifndef D
#define D 64
#endif

void gather_sum(const int I[BAGS][LENGTH], const float E[ROWS][D], float O[BAGS][D]) {
  for (int b = 0; b < BAGS; b++)
    for (int d = 0; d < D; d++) {
      O[b][d] = 0.0f;
      for (int l = 0; l < LENGTH; l++)
        O[b][d] += E[I[b][l]][d];
    }
}
