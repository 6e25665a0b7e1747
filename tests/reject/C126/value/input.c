void f(int N, const float x[N], float y[N])
{
    for (int i = 0; i < N; i++)
        y[i] = x[i] / N;
}
