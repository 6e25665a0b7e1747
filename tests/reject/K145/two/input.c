void dot(const float x[1024], const float y[1024], float r[1]) {
  r[0] = 0;
  for (int i = 0; i < 1024; i++)
    r[0] += x[i] * y[i];
}
