#include <stdint.h>

void matmul(const int8_t A[64][64], const int8_t B[64][64], int32_t C[64][64]) {
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 64; j++) {
      C[i][j] = 0;
      for (int k = 0; k < 64; k++)
        C[i][j] += (int32_t)A[i][k] * (int32_t)B[k][j];
    }
}
