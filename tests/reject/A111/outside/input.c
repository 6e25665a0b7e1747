void scale(int n, float s, const float x[n], float y[n])
{
    for (int i = 0; i < n; i++)
        y[i] = s * x[i];
}
