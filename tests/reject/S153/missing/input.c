void two(const float x[64], float y[64], float z[64]) {
  for (int i = 0; i < 64; i++)
    y[i] = 2 * x[i];
  for (int i = 0; i < 64; i++)
    z[i] = y[63 - i];
}
