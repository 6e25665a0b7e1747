void f(float y[16]) {
  for (int i = 0; i < 8; i++)
    for (int j = i; j < 16; j += 2)
      y[j] += 1;
}
