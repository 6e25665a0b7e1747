void f(float y[16]) {
  for (int i = 0; i < 8; i++)
    for (int j = i; j < i - 2; j++)
      y[j] += 1;
}
