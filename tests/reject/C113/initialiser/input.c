void f(float y[8]) {
  float part[20] = {1, 2};
  for (int i = 0; i < 8; i++)
    part[1] += y[i];
  y[0] = part[1];
}
