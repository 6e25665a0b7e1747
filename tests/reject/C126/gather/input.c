void f(int N, const int at[8], const float x[N], float y[8])
{
    for (int i = 0; i < 8; i++)
        y[i] = x[at[i]];
}
