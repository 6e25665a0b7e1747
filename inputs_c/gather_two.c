// Two embedding bags, each with a table of its own: 2LUT of the Tensor Comprehensions paper.
// Sizes: 128 bags of 50 rows of 64 floats out of 100000.
#ifndef BAGS
#define BAGS 128
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

void gather_two(const float E1[ROWS][D], const int I1[BAGS][LENGTH], const float E2[ROWS][D],
                const int I2[BAGS][LENGTH], float O1[BAGS][D], float O2[BAGS][D]) {
  for (int b = 0; b < BAGS; b++)
    for (int d = 0; d < D; d++) {
      O1[b][d] = 0.0f;
      for (int l = 0; l < LENGTH; l++)
        O1[b][d] += E1[I1[b][l]][d];
    }
  for (int b = 0; b < BAGS; b++)
    for (int d = 0; d < D; d++) {
      O2[b][d] = 0.0f;
      for (int l = 0; l < LENGTH; l++)
        O2[b][d] += E2[I2[b][l]][d];
    }
}
