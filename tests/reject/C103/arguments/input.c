#define SQUARE(x) ((x) * (x))
void f(float y[8]) {
  for (int i = 0; i < 8; i++)
    y[i] = SQUARE(i;
}
