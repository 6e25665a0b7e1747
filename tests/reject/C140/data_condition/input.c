void f(float y[8], const float x[8], const int inside[8]) {
  for (int i = 0; i < 8; i++)
    y[i] = inside[i] ? x[i + 1] : 0;
}
