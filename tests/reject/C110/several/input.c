void f(long double x[8], float **y, float z[n], int k) {
  for (int i = 0; i < k; i++)
    z[i] = x[i] + y[0][i];
}
