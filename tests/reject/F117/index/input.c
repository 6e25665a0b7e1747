void gather(const int I[4], const float A[8], float B[4]) {
  for (int i = 0; i < 4; i++)
    B[i] = A[I[i]];
}
