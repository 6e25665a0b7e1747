void f(float m[10], int at[101], const float x[10][20]) {
  for (int i = 0; i < 10; i++)
    for (int j = 0; j < 20; j++)
      if (x[i][j] > m[i]) {
        m[i] = x[i][j];
        at[j + 9 * i] = j;
      }
}
