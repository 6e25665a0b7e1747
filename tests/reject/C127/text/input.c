void gen(int N, int M, const float C[N][M], const float x[M], float y[N]) {
  for (int i = 0; i < N; i++)
    for (int k = 0; k < M; k++)
      y[i] += C[i][k] * x[k];
}
