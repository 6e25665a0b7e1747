void steps(int T, float a[64], float b[64]) {
  for (int t = 0; t < T; t++) {
    for (int i = 1; i < 63; i++) b[i] = a[i - 1] + a[i + 1];
    for (int i = 1; i < 63; i++) a[i] = b[i] / 2;
  } }
