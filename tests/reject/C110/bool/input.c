#include <stdbool.h>
void f(int y[8], const float x[8]) {
  for (int i = 0; i < 8; i++) {
    bool some = x[i] * 0.5f;
    y[i] = some;
  }
}
