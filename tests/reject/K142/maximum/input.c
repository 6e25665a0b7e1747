void largest(const float x[1024], float m[1]) {
  for (int i = 0; i < 1024; i++)
    m[0] = x[i] > m[0] ? x[i] : m[0];
}
