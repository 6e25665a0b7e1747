void scan(const float x[8], float y[8]) {
  float s = 0.0f;
  for (int i = 0; i < 8; i++) {
    s += x[i];
    y[i] = s;
  }
}
