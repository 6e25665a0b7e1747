void w(float C[3][4], float y[3]) {
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 4; k++) { C[i][k] = C[i][k] * 2.0f; }
}
