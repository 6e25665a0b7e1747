void copy(const float A[64][8], float C[64][8]) {
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 8; j++)
      C[i][j] = A[i][j];
}
