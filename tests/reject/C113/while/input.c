void f(float y[8]) {
  int i = 0;
  while (i < 8) {
    y[i] = 1;
    i++;
  }
}
