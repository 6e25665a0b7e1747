void heat(float A[100], float U[100]) {
  for (int t = 0; t < 20; t++) {
    for (int i = 1; i < 99; i++)
      U[i] = A[i - 1] + A[i + 1];
    for (int i = 1; i < 99; i++)
      A[i] = U[i] / 2;
  }
}
