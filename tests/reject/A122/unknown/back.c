void back(int n, const float x[n], const float grad[n], float x_grad[n]) {
  for (int i = 0; i < n; i++)
    x_grad[i] = 2 * x[i] * grad[i];
}
