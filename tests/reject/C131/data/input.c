void f(float y[8], const int n[1]) {
  for (int i = 0; i < n[0]; i++)
    y[i] = 1;
}
