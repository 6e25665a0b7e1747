void add(const float A[64], const float B[64], float C[64]) {
  for (int i = 0; i < 64; i++)
    C[i] = A[i] + B[i];
}
