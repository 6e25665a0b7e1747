void f(float y[16]) {
  for (unsigned i = 0; i < 8; i++)
    for (unsigned j = 0; j < i - 1; j++)
      y[j] += 1;
}
