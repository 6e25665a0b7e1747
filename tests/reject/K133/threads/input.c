void histogram(const int b[1024], const float w[1024], float h[64]) {
  for (int i = 0; i < 1024; i++)
    h[b[i]] += w[i];
}
