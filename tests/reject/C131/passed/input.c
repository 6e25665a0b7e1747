void f(float y[16]) {
  for (int i = 0; i < 8; i++)
    for (int j = 4; j != i; j++)
      y[j] += 1;
}
