void f(float y[1], const float x[4]) {
  for (int j = 0; j < 4; j++)
    y[0] = x[j];
}
