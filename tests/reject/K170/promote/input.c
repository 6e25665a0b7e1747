#include <mdh.h>
void f(const fp8_e4m3 A[64][8][16], const fp8_e4m3 B[64][8][16], float C[64][64]) {
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 64; j++) {
      C[i][j] = 0;
      for (int s = 0; s < 8; s++)
        for (int c = 0; c < 16; c++)
          C[i][j] += fp8_e4m3_to_float(A[i][s][c]) * fp8_e4m3_to_float(B[j][s][c]);
    }
}
