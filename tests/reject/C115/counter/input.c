void f(int y[8], const float x[8]) {
  int j;
  for (int i = 0; i < 8; i++) {
    for (j = 0; j < i; j++)
      y[i] += 1;
    y[i] = j;
  }
}
