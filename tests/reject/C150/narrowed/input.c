#include <stdint.h>
void f(uint8_t y[8], const int a[8][6]) {
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 6; j++)
      if (a[i][j] > y[i])
        y[i] = a[i][j];
}
