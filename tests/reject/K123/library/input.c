void f(const float A[64][64], const float B[64][64], float C[64][64])
{
    float T[64][64];
    for (int i = 0; i < 64; i++)
        for (int k = 0; k < 64; k++)
            T[i][k] = A[i][k] * A[k][i];
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 64; j++) {
            C[i][j] = 0;
            for (int k = 0; k < 64; k++)
                C[i][j] += T[i][k] * B[k][j];
        }
}
