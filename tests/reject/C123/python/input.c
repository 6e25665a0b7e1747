void f(int size, float y[size]) {
  for (int i = 0; i < size; i++)
    y[i] = 1;
}
