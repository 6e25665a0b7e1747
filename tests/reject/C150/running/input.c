void f(float y[1], const float a[6]) {
  for (int j = 0; j < 6; j++)
    if (y[0] < 100)
      y[0] += a[j];
}
