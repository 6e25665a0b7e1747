typedef float row[8];
void f(row y) {
  for (int i = 0; i < 8; i++)
    y[i] = 1;
}
