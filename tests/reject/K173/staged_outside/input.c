void f(const __bf16 A[32][40], const __bf16 B[32][40], float C[32][32]) {
  for (int i = 0; i < 32; i++) for (int j = 0; j < 32; j++) {
    float s = 0;
    for (int k = 0; k < 40; k++) s += (float)A[i][k] * (float)B[j][k];
    C[i][j] = s; } }
