void count(const int B[8], int H[4]) {
  for (int i = 0; i < 8; i++)
    H[B[i]] += 1;
}
