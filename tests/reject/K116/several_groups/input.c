void two(const float x[4][5][6][7], float y[4][5][6][7]) {
  for (int a = 0; a < 4; a++)
    for (int b = 0; b < 5; b++)
      for (int c = 0; c < 6; c++)
        for (int d = 0; d < 7; d++)
          y[a][b][c][d] = x[a][b][c][d] + x[0][0][c][d];
}
