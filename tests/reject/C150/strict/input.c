void sums(const float a[64], const float b[64], float s[1]) {
  for (int i = 0; i < 64; i++)
    s[0] = s[0] + a[i] + b[i];
}
