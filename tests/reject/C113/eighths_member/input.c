#include <mdh.h>
void f(const fp8_e5m2 x[2], float z[2]) {
  for (int i = 0; i < 2; i++)
    z[i] = x[i].bits;
}
