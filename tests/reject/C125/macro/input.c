#ifndef N
#define N 64
#endif
#define PADDED (N + 2)
void scale(const float x[PADDED], float y[N])
{
    for (int i = 0; i < N; i++)
#if PADDED > 100
        y[i] = 2 * x[i];
#else
        y[i] = x[i + 2];
#endif
}
