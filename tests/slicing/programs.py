"""C functions of several statements, each with a way to depend on earlier ones."""

from collections.abc import Mapping

# what a slice must follow is named by the key; every array parameter that a function writes is sampled
PROGRAMS: Mapping[str, str] = {
    "jacobi time": """void f(float A[40], float B[40]) {
  for (int t = 0; t < 6; t++) {
    for (int i = 1; i < 39; i++)
      B[i] = 0.33f * (A[i-1] + A[i] + A[i+1]);
    for (int i = 1; i < 39; i++)
      A[i] = 0.33f * (B[i-1] + B[i] + B[i+1]);
  }
}
""",
    "jacobi2 time": """void f(float A[20][24], float B[20][24]) {
  for (int t = 0; t < 3; t++) {
    for (int i = 1; i < 19; i++)
      for (int j = 1; j < 23; j++)
        B[i][j] = 0.2f * (A[i][j] + A[i-1][j] + A[i+1][j] + A[i][j-1] + A[i][j+1]);
    for (int i = 1; i < 19; i++)
      for (int j = 1; j < 23; j++)
        A[i][j] = B[i][j];
  }
}
""",
    "old style": """void f(float A[30][20], float y[30]) {
  int i, j;
  float s;
  for (i = 0; i < 30; i++) {
    s = 0;
    for (j = 0; j < 20; j++)
      s += A[i][j];
    y[i] = s;
  }
}
""",
    "reverse": """void f(float A[30], float y[30]) {
  float s = 0;
  for (int i = 29; i >= 0; i--) {
    s = s * 0.5f + A[i];
    y[i] = s;
  }
}
""",
    "index local": """void f(float A[30][20], float y[600]) {
  for (int i = 0; i < 30; i++)
    for (int j = 0; j < 20; j++) {
    int idx = i * 20 + j;
    y[idx] = A[i][j] + 1;
  }
  for (int i = 1; i < 600; i++)
    if (y[i-1] > 0) y[i] = y[i] * 2 + y[i-1];
}
""",
    "index old": """void f(float A[30][20], float y[600]) {
  int idx;
  for (int i = 0; i < 30; i++)
    for (int j = 0; j < 20; j++) {
    idx = i * 20 + j;
    y[idx] = A[i][j] + 1;
  }
}
""",
    "gather": """void f(const int I[50], float E[40][8], float y[50][8]) {
  for (int r = 0; r < 40; r++)
    for (int d = 0; d < 8; d++)
      E[r][d] = E[r][d] * 2;
  for (int i = 0; i < 50; i++)
    for (int d = 0; d < 8; d++)
      if (E[I[i]][d] > 0) y[i][d] = E[I[i]][7-d];
}
""",
    "histo": """void f(const int I[50], float H[40], float y[40]) {
  for (int b = 0; b < 40; b++)
    H[b] = 0;
  for (int i = 0; i < 50; i++)
    H[I[i]] += 1;
  y[0] = H[0];
  for (int b = 1; b < 40; b++)
    y[b] = y[b-1] + H[b];
}
""",
    "argmax locals": """void f(float A[30][20], float y[30], int w[30]) {
  for (int i = 0; i < 30; i++) {
    float m = -1000;
    int k = -1;
    for (int j = 0; j < 20; j++) if (A[i][j] > m) {
      m = A[i][j];
      k = j;
    }
    y[i] = m;
    w[i] = k;
  }
}
""",
    "outer in inner": """void f(float A[30][20], float y[30][20]) {
  for (int i = 0; i < 30; i++) {
    float c = A[i][0] + A[29-i][1];
    for (int j = 0; j < 20; j++) {
      float d = c * A[i][j];
      if (d > 0) y[i][j] = d;
      else y[i][j] = c;
    }
  }
}
""",
    "flat": """void f(float *A, float *C) {
  for (int i = 0; i < 12; i++)
    for (int j = 0; j < 10; j++)
      C[i * 10+j] = A[j * 12+i];
  for (int i = 0; i < 10; i++)
    for (int j = 0; j < 12; j++)
      A[i * 12+j] = C[j * 10+i] + C[119 - i * 12 - j];
}
""",
    "inplace mm": """void f(float A[16][16], float B[16][16]) {
  for (int i = 0; i < 16; i++)
    for (int j = 0; j < 16; j++) {
    float s = 0;
    for (int k = 0; k < 16; k++)
      s += A[i][k] * B[k][j];
    A[i][j] = s;
  }
}
""",
    "floyd": """void f(float D[14][14]) {
  for (int k = 0; k < 14; k++)
    for (int i = 0; i < 14; i++)
      for (int j = 0; j < 14; j++)
        D[i][j] = D[i][j] < D[i][k] + D[k][j] ? D[i][j] : D[i][k] + D[k][j];
}
""",
    "seidel": """void f(float A[20][20]) {
  for (int t = 0; t < 2; t++)
    for (int i = 1; i < 19; i++)
      for (int j = 1; j < 19; j++)
        A[i][j] = 0.2f * (A[i][j] + A[i-1][j] + A[i+1][j] + A[i][j-1] + A[i][j+1]);
}
""",
    "diag": """void f(float A[20][20], float y[20]) {
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 20; j++)
      A[i][j] = A[i][j] + 1;
  for (int i = 0; i < 20; i++)
    y[i] = A[i][i] + A[i][19-i];
  float s = 0;
  for (int i = 0; i < 20; i++) {
    s += y[i];
    y[i] = s;
  }
}
""",
    "strided": """void f(float A[60], float y[20]) {
  for (int i = 0; i < 60; i += 3)
    A[i] = A[i] * 2;
  for (int i = 58; i >= 0; i -= 2)
    A[i] = A[i] - 1;
  for (int i = 0; i < 20; i++)
    y[i] = A[3 * i] + A[2 * i+1];
}
""",
    "doitgen": """void f(float A[6][5][8], const float C[8][8]) {
  float s[8];
  for (int r = 0; r < 6; r++)
    for (int q = 0; q < 5; q++) {
    for (int p = 0; p < 8; p++) {
      s[p] = 0;
      for (int k = 0; k < 8; k++)
        s[p] += A[r][q][k] * C[k][p];
    }
    for (int p = 0; p < 8; p++)
      A[r][q][p] = s[p];
  }
}
""",
    "power": """void f(float A[12][12], float x[12], float y[12]) {
  for (int t = 0; t < 3; t++) {
    for (int i = 0; i < 12; i++) {
      y[i] = 0;
      for (int j = 0; j < 12; j++)
        y[i] += A[i][j] * x[j];
    }
    for (int i = 0; i < 12; i++)
      x[i] = y[i];
  }
}
""",
    "swap": """void f(float x[30], float y[30]) {
  for (int i = 0; i < 30; i++) {
    float t = x[i];
    x[i] = y[29-i];
    y[29-i] = t;
  }
}
""",
    "mean": """void f(float x[30], float y[30]) {
  float m = 0;
  for (int i = 0; i < 30; i++)
    m += x[i];
  m = m / 30;
  for (int i = 0; i < 30; i++)
    y[i] = x[i] - m;
}
""",
    "cond acc": """void f(float x[30][10], const int k[30], float y[10]) {
  for (int j = 0; j < 10; j++) {
    y[j] = 0;
    for (int i = 0; i < 30; i++) if (k[i] > 2) {
      y[j] += x[i][j];
      if (y[j] > 3) y[j] = y[j] - 1;
      else {
        float q = y[j];
        y[j] = q * 2;
      }
    }
  }
}
""",
    "uint": """#include <stdint.h>
void f(float x[30], float y[30]) {
  for (uint8_t i = 0; i < 30u; i++)
    y[i] = x[29-i];
  for (unsigned i = 1; i < 30; i++)
    x[i-1] = y[i];
  for (int i = -2; i < 28; i++)
    y[i+2] += x[i+2];
}
""",
    "shadow": """void f(float x[30], float y[30]) {
  float s = 1;
  for (int i = 0; i < 30; i++) {
    float s = x[i];
    for (int j = 0; j < 3; j++) {
      s += j;
    }
    y[i] = s;
  }
  for (int i = 0; i < 30; i++) {
    s = s + y[i];
    x[i] = s;
  }
}
""",
    "kill array": """void f(float x[30], float y[30], float T[4]) {
  for (int i = 0; i < 30; i++) {
    for (int j = 0; j < 4; j++)
      T[j] = x[i] * j;
    y[i] = T[0] + T[3];
  }
}
""",
    "histo local": """void f(const int I[50], const int J[20][3], float H[40], float y[40]) {
  for (int i = 0; i < 50; i++) {
    int b = I[i] * 2+1;
    H[b] += i;
  }
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 3; j++)
      H[(J[19-i][j] >> 1) + i] *= 2;
  for (int i = 0; i < 40; i++)
    if (i < 20) y[i] = H[J[i/2 * 0 + 3][1]] + H[I[i]];
}
""",
    "perm": """void f(const int I[30], float x[30], float y[30]) {
  for (int i = 0; i < 30; i++)
    x[i] = x[i] + 1;
  for (int i = 0; i < 30; i++)
    y[I[i]] = x[i];
  for (int i = 0; i < 30; i++)
    x[i] = y[I[I[i]]];
}
""",
    "reset": """void f(float x[8][9], float y[8], float s[1]) {
  for (int i = 0; i < 8; i++) {
    s[0] = x[i][0];
    for (int j = 1; j < 9; j++) {
      if (x[i][j] > s[0]) s[0] = x[i][j];
    }
    y[i] = s[0];
  }
}
""",
    "computed index": """void f(float x[30], float y[30], float z[30], int p[30]) {
  for (int i = 0; i < 30; i++)
    p[i] = (i * 7) % 30;
  for (int i = 0; i < 30; i++)
    y[p[i]] = x[i];
  for (int i = 0; i < 30; i++)
    z[i] = x[p[29 - i]];
}
""",
    "running index": """void f(float x[30], float y[70]) {
  int k = 3;
  for (int i = 0; i < 30; i++) {
    y[k] = x[i];
    k = k + 2;
  }
}
""",
    "choice": """void f(float x[30], float y[30], float z[30]) {
  for (int i = 0; i < 30; i++)
    y[i] = x[29 - i] + 1;
  for (int i = 0; i < 30; i++)
    z[i] = y[i] > 1 ? x[i] : -x[i];
}
""",
    "skewed": """void f(float A[12][12]) {
  for (int i = 1; i < 12; i++)
    for (int j = 0; j < 11; j++)
      A[i][j] = 0.5f * A[i - 1][j + 1] + 1;
}
""",
    "last seen": """void f(float x[30], float a[30], float b[30]) {
  float s = 0;
  for (int i = 0; i < 30; i++) {
    a[i] = s;
    for (int j = 0; j < 3; j++)
      if (x[i] > j - 2) s = x[i] + j;
    b[i] = s;
  }
}
""",
    "strided temporary": """void f(float x[10], float y[10], float T[8]) {
  for (int i = 0; i < 10; i++) {
    for (int j = 0; j < 8; j += 2)
      T[j] = x[i];
    for (int j = 1; j < 7; j++)
      y[i] += T[j];
    for (int j = 1; j < 8; j += 2)
      T[j] = x[i] + 1;
  }
}
""",
    "diagonal temporary": """void f(float x[10], float y[10], float T[6][6]) {
  for (int i = 0; i < 10; i++) {
    for (int j = 0; j < 6; j++)
      T[j][j] = x[i];
    for (int j = 0; j < 6; j++)
      for (int k = 0; k < 6; k++)
        y[i] += T[j][k];
    for (int j = 0; j < 5; j++)
      T[j][j + 1] = x[i];
  }
}
""",
    "sheared temporary": """void f(float x[5], float y[5], float T[5][9]) {
  for (int i = 0; i < 5; i++) {
    for (int j = 0; j < 5; j++)
      T[j][i + j] = x[i];
    for (int j = 0; j < 5; j++)
      y[i] += T[j][4];
  }
}
""",
    "gathered sum": """void f(const int I[30], float x[30], float y[5]) {
  for (int i = 0; i < 30; i++)
    x[i] = x[i] + 1;
  for (int b = 0; b < 5; b++)
    for (int i = 0; i < 6; i++)
      y[b] += x[I[b * 6 + i]];
}
""",
    "part of a temporary": """void f(float x[10], float y[10], float T[6]) {
  for (int i = 0; i < 10; i++) {
    for (int j = 0; j < 4; j++)
      T[j] = x[i];
    for (int j = 0; j < 4; j++)
      y[i] += T[j + 2];
    for (int j = 4; j < 6; j++)
      T[j] = x[i] + y[i];
  }
}
""",
}
