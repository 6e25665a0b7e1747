void f(const float A[128][64], const float B[32][48], float C[64][48])
{
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 48; j++)
            for (int k = 0; k < 32; k++)
                C[i][j] += A[2 * i][2 * k] * B[k][j];
}
