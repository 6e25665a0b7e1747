// copies: 40 x 40 x 40 turns
void contract(const float A[40][256], const float C[40][40][40], float O[40][256]) {
  for (int n = 0; n < 256; n++)
    for (int j = 0; j < 40; j++)
      for (int k = 0; k < 40; k++)
        for (int l = 0; l < 40; l++)
          O[j][n] += A[k][n] * A[l][n] * C[j][k][l];
}
