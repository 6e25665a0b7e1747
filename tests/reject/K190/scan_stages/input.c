void prefix(const float X[4096], float S[4096]) {
  float s = 0;
  for (int i = 0; i < 4096; i++) {
    s += X[i];
    S[i] = s;
  }
}
