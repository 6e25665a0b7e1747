void f(int N, const float x[N], float y[N])
{
    for (int i = 1; i < N - 1; i++)
        y[i] = x[i - 1] + x[i + 1];
}
