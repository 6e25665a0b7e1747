void scale(const float x[64], float y[64]) {
  for (int i = 0; i < 64; i++)
    y[i] = 2.0f * x[i];
}
