void blur(const float A[1026], float C[1024]) {
  for (int i = 0; i < 1024; i++)
    C[i] = A[i] + A[i + 1] + A[i + 2];
}
