void scan(const float x[1024], float s[1024]) {
  s[0] = x[0];
  for (int i = 1; i < 1024; i++)
    s[i] = s[i - 1] + x[i];
}
