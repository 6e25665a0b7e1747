#include <math.h>
void f(const float A[64][32], const float B[32][48], float C[64][48])
{
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 48; j++) {
            float s = 0;
            for (int k = 0; k < 32; k++)
                s += A[i][k] * B[k][j];
            C[i][j] = fmaxf(s, 0.0f);
        }
}
