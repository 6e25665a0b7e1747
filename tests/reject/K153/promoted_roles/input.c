#include <mdh.h>
void product(const fp8_e4m3 A[448][448], const fp8_e4m3 B[448][448], float C[448][448]) {
  for (int i = 0; i < 448; i++)
    for (int j = 0; j < 448; j++) {
      C[i][j] = 0;
      for (int k = 0; k < 448; k++)
        C[i][j] += fp8_e4m3_to_float(A[i][k]) * fp8_e4m3_to_float(B[j][k]);
    }
}
