#include <stdint.h>
void fill(int8_t a, int8_t y[8]) {
  for (int i = 0; i < 8; i++)
    y[i] = a;
}
