static double hypot(double a, double b) {
  double d = a - b;
  return d;
}
void f(double y[8], const double x[8]) {
  for (int i = 0; i < 8; i++)
    y[i] = hypot(x[i], 3.0);
}
