const int n = 3;
void f(float x[4][n], int n) {
  for (int i = 0; i < 4; i++)
    x[i][0] = 1;
}
