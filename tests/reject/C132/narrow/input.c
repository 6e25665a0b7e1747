#include <stdint.h>
void f(float y[512]) {
  for (int i = 0; i < 256; i++)
    for (int8_t j = 0; j < i; j++)
      y[i] += 1;
}
