void f(float y[66]) {
  for (int i = -2; i < 66 - 2u; i++)
    y[i + 2] = 1;
}
