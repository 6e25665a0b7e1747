void f(const __bf16 A[4][32][64], const __bf16 B[4][64][32], float C[4][32][32]) {
  for (int b = 0; b < 4; b++) for (int i = 0; i < 32; i++) for (int j = 0; j < 32; j++) {
    float s = 0;
    for (int k = 0; k < 64; k++) s += (float)A[b][i][k] * (float)B[b][k][j];
    C[b][i][j] = s; } }
