enum { A1 = 1 };
enum { A1 = 2 };
void f(const float x[8], float y[8]) {
  for (int i = 0; i < 8; i++) y[i] = x[i] * A1;
}
