void half(int M, int N, int K, const _Float16 A[M][K], const _Float16 B[K][N], float C[M][N])
{
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < K; k++)
                C[i][j] += (float)A[i][k] * (float)B[k][j];
}
