void f(int N, const float *x, float *y)
{
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < N; j++)
            y[i] += x[i * N + j];
}
