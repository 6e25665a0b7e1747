void scan(int M, int N, const float x[M][N], float y[M][N])
{
    for (int i = 0; i < M; i++)
        for (int j = 1; j < N; j++)
            y[i][j] = y[i][j - 1] + x[i][j];
}
