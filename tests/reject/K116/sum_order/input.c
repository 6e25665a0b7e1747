void rows(const float x[5][6][7], const float w[5][6], float y[5]) {
  for (int n = 0; n < 5; n++)
    for (int p = 0; p < 6; p++)
      for (int q = 0; q < 7; q++)
        y[n] += x[n][p][q];
}
