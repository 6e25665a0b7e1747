#include <stdint.h>
void f(uint8_t y[1], const int a[6]) {
  for (int j = 0; j < 6; j++)
    if (a[j] > y[0])
      y[0] = a[j];
}
