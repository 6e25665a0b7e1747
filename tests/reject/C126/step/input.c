void f(int N, const float x[2 * N], float y[2 * N])
{
    for (int i = 0; i < 2 * N; i += 2)
        y[i] = x[i];
}
