void scan(const float x[1024], float s[1024]) {
  float sum = 0.0f;
  for (int i = 0; i < 1024; i++) {
    sum += x[i];
    s[i] = sum;
  }
}
