void f(const __bf16 A[64][48], const __bf16 B[32][48], float C[64][32]) {
  for (int i = 0; i < 64; i++) for (int j = 0; j < 32; j++) {
    float s = 0;
    for (int k = 0; k < 48; k++) s += (float)A[i][k] * (float)B[j][k];
    C[i][j] = s; } }
