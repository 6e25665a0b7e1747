void scale(int n, float out[n], const float in[n]) {
  for (int i = 0; i < n; i++)
    out[i] = 2.0f * in[i];
}
