void f(const float *table, const int at[8], float y[8]) {
  for (int i = 0; i < 8; i++)
    y[i] = table[at[i]];
}
