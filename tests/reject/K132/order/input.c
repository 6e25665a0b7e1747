void rowsum(const float x[8][8][8], float r[8]) {
  for (int i = 0; i < 8; i++)
    for (int p = 0; p < 8; p++)
      for (int q = 0; q < 8; q++)
        r[i] += x[i][p][q];
}
