void f(int N, const float x[N], float y[N])
{
    for (int i = N - 1; i >= 0; i--)
        y[i] = x[i];
}
