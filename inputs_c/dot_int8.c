// Inner product of 8-bit integers summed in 32 bits: C[0] = sum over k of A[k] * B[k].
// Sizes: 2^24 elements, as dot.
#include <stdint.h>
#ifndef K
#define K 16777216
#endif

void dot_int8(const int8_t A[K], const int8_t B[K], int32_t C[1]) {
  int32_t sum = 0;
  for (int k = 0; k < K; k++)
    sum += (int32_t)A[k] * B[k];
  C[0] = sum;
}
