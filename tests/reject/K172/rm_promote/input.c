#include <mdh.h>
void product(const fp8_e4m3 A[512][512], const fp8_e4m3 B[512][512], float C[512][512]) {
  for (int i = 0; i < 512; i++)
    for (int j = 0; j < 512; j++) {
      float sum = 0;
      for (int k = 0; k < 512; k++)
        sum += fp8_e4m3_to_float(A[i][k]) * fp8_e4m3_to_float(B[j][k]);
      C[i][j] = sum;
    }
}
