void matmul(float C[128][128], const float A[128][128], const float B[128][128])
{
    for (int i = 0; i < 128; i++)
        for (int j = 0; j < 128; j++)
            for (int k = 0; k < 128; k++)
                C[i][j] += A[i][k] * B[k][j];
}
