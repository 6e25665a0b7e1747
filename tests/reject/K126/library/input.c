void f(float X[3][40][6], const float M[6][6], float Y[40][6])
{
    for (int t = 0; t < 2; t++) {
        for (int i = 0; i < 40; i++)
            for (int j = 0; j < 6; j++) {
                Y[i][j] = 0;
                for (int k = 0; k < 6; k++)
                    Y[i][j] += X[t][i][k] * M[k][j];
            }
        for (int i = 0; i < 40; i++)
            for (int j = 0; j < 6; j++)
                X[t + 1][i][j] = Y[i][j];
    }
}
