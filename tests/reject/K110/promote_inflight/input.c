#include <mdh.h>
void product(const fp8_e4m3 A[256][256], const fp8_e4m3 B[256][256], float C[256][256]) {
  for (int i = 0; i < 256; i++)
    for (int j = 0; j < 256; j++) {
      C[i][j] = 0;
      for (int k = 0; k < 256; k++)
        C[i][j] += fp8_e4m3_to_float(A[i][k]) * fp8_e4m3_to_float(B[j][k]);
    }
}
