void f(const float u[8], const float w[8], float x[8], float z[8]) {
    float T[8];
    for (int i = 0; i < 8; i++)
        T[i] = w[i] + x[i];
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++)
            x[i] += u[j];
    for (int i = 0; i < 8; i++)
        z[i] = x[i] + T[i];
}
