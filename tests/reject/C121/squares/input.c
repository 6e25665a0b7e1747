void f(float y[8], const float x[8]) {
  for (int i = 0; i < 8; i++) {
    float t = x[i] + 1;
    t = t * t;
    t = t * t;
    t = t * t;
    t = t * t;
    t = t * t;
    t = t * t;
    t = t * t;
    t = t * t;
    t = t * t;
    t = t * t;
    t = t * t;
    t = t * t;
    y[i] = t;
  }
}
