void sums(const float A[64][1024], float C[64][1024]) {
  for (int i = 0; i < 64; i++) {
    float sum = 0;
    for (int k = 0; k < 1024; k++) {
      sum += A[i][k];
      C[i][k] = sum;
    }
  }
}
