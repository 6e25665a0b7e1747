void f(struct point *p) {
  for (int i = 0; i < 8; i++)
    p[i] = 1;
}
