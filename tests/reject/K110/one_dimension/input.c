void dot(const float x[1024], const float y[1024], float s[1]) {
  for (int i = 0; i < 1024; i++)
    s[0] += x[i] * y[i];
}
