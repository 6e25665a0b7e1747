void heat(float A[64], float B[64]) {
  for (int t = 0; t < 10; t++) {
    for (int i = 1; i < 63; i++)
      B[i] = A[i - 1] + A[i + 1];
    for (int i = 1; i < 63; i++)
      A[i] = B[i - 1] + B[i + 1];
  }
}
