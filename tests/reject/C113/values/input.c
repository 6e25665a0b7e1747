static const float table[70000] = {1, 2, 3};
void f(float y[8]) {
  for (int i = 0; i < 8; i++)
    y[i] = table[i];
}
