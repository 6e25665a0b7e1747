void copy(const float A[64], float C[64]) {
  for (int i = 0; i < 64; i++)
    C[i] = A[i];
}
