void odd(const float x[33][7], float y[33][7]) {
  for (int n = 0; n < 33; n++)
    for (int p = 0; p < 7; p++)
      y[n][p] = p > 2 ? x[n][p] : 0.0f;
}
