float sum(const float x[8]) {
  float s = 0;
  for (int i = 0; i < 8; i++)
    s += x[i];
  return s;
}
