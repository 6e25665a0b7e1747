void f(const float A[4096][4096], float B[4096][4096]) {
  for (int i = 0; i < 4096; i++)
    for (int j = 0; j < 4096; j++)
      B[i][j] = 2.0f * A[i][j];
}
