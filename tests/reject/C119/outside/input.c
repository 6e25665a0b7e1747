void f(float y[8]) {
#pragma scop
  for (int i = 0; i < 8; i++)
    y[i] = 1;
#pragma endscop
  y[0] = 5;
}
