void f(float result[8], const float x[8]) {
  for (int i = 0; i < 8; i++)
    resalt[i] = x[i];
}
