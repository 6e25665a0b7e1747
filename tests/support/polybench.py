"""The thirty computations of PolyBench 4.2.1, written anew as one C function each, from what they compute.

Bounds that depend on outer loops are conditions here where that is natural. Sizes are small.
"""

from mdh.source import Source

SIZES = "#define N 9\n#define M 7\n#define K 5\n#define T 3\n"

_TEXTS = {
    "correlation": """
void correlation(double data[N][M], double corr[M][M], double mean[M], double dev[M], double eps) {
  for (int j = 0; j < M; j++) {
    mean[j] = 0;
    for (int i = 0; i < N; i++) mean[j] += data[i][j];
    mean[j] = mean[j] / N;
  }
  for (int j = 0; j < M; j++) {
    dev[j] = 0;
    for (int i = 0; i < N; i++) dev[j] += (data[i][j] - mean[j]) * (data[i][j] - mean[j]);
    dev[j] = sqrt(dev[j] / N) <= eps ? 1.0 : sqrt(dev[j] / N);
  }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) data[i][j] = (data[i][j] - mean[j]) / (sqrt((double)N) * dev[j]);
  for (int i = 0; i < M; i++)
    for (int j = 0; j < M; j++) {
      corr[i][j] = 0;
      for (int k = 0; k < N; k++) corr[i][j] += data[k][i] * data[k][j];
      corr[i][j] = i == j ? 1.0 : corr[i][j];
    }
}""",
    "covariance": """
void covariance(double data[N][M], double cov[M][M], double mean[M]) {
  for (int j = 0; j < M; j++) {
    mean[j] = 0;
    for (int i = 0; i < N; i++) mean[j] += data[i][j];
    mean[j] /= N;
  }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) data[i][j] -= mean[j];
  for (int i = 0; i < M; i++)
    for (int j = 0; j < M; j++) {
      cov[i][j] = 0;
      for (int k = 0; k < N; k++) cov[i][j] += data[k][i] * data[k][j];
      cov[i][j] /= N - 1.0;
    }
}""",
    "gemm": """
void gemm(double alpha, double beta, double C[N][M], const double A[N][K], const double B[K][M]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) {
      C[i][j] *= beta;
      for (int k = 0; k < K; k++) C[i][j] += alpha * A[i][k] * B[k][j];
    }
}""",
    "gemver": """
void gemver(double alpha, double beta, double A[N][N], const double u1[N], const double v1[N],
            const double u2[N], const double v2[N], double w[N], double x[N], const double y[N],
            const double z[N]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) A[i][j] += u1[i] * v1[j] + u2[i] * v2[j];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) x[i] += beta * A[j][i] * y[j];
  for (int i = 0; i < N; i++) x[i] += z[i];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) w[i] += alpha * A[i][j] * x[j];
}""",
    "gesummv": """
void gesummv(double alpha, double beta, const double A[N][N], const double B[N][N], const double x[N],
             double y[N]) {
  for (int i = 0; i < N; i++) {
    double a = 0, b = 0;
    for (int j = 0; j < N; j++) {
      a += A[i][j] * x[j];
      b += B[i][j] * x[j];
    }
    y[i] = alpha * a + beta * b;
  }
}""",
    "symm": """
void symm(double alpha, double beta, double C[N][M], const double A[N][N], const double B[N][M]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) {
      double s = 0;
      for (int k = 0; k < N; k++) s += (k <= i ? A[i][k] : A[k][i]) * B[k][j];
      C[i][j] = beta * C[i][j] + alpha * s;
    }
}""",
    "syr2k": """
void syr2k(double alpha, double beta, double C[N][N], const double A[N][M], const double B[N][M]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      if (j <= i) C[i][j] *= beta;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < M; k++)
        if (j <= i) C[i][j] += A[j][k] * alpha * B[i][k] + B[j][k] * alpha * A[i][k];
}""",
    "syrk": """
void syrk(double alpha, double beta, double C[N][N], const double A[N][M]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      C[i][j] *= j <= i ? beta : 1.0;
      for (int k = 0; k < M; k++) C[i][j] += j <= i ? alpha * A[i][k] * A[j][k] : 0.0;
    }
}""",
    "trmm": """
void trmm(double alpha, const double A[N][N], double B[N][M]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) {
      for (int k = 0; k < N; k++)
        if (k > i) B[i][j] += A[k][i] * B[k][j];
      B[i][j] *= alpha;
    }
}""",
    "2mm": """
void mm2(double alpha, double beta, double tmp[N][M], const double A[N][K], const double B[K][M],
         const double C[M][N], double D[N][N]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) {
      tmp[i][j] = 0;
      for (int k = 0; k < K; k++) tmp[i][j] += alpha * A[i][k] * B[k][j];
    }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      D[i][j] *= beta;
      for (int k = 0; k < M; k++) D[i][j] += tmp[i][k] * C[k][j];
    }
}""",
    "3mm": """
void mm3(double E[N][M], const double A[N][K], const double B[K][M], double F[M][N], const double C[M][K],
         const double D[K][N], double G[N][N]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) {
      E[i][j] = 0;
      for (int k = 0; k < K; k++) E[i][j] += A[i][k] * B[k][j];
    }
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      F[i][j] = 0;
      for (int k = 0; k < K; k++) F[i][j] += C[i][k] * D[k][j];
    }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      G[i][j] = 0;
      for (int k = 0; k < M; k++) G[i][j] += E[i][k] * F[k][j];
    }
}""",
    "atax": """
void atax(const double A[M][N], const double x[N], double y[N], double tmp[M]) {
  for (int i = 0; i < M; i++) {
    tmp[i] = 0;
    for (int j = 0; j < N; j++) tmp[i] += A[i][j] * x[j];
  }
  for (int j = 0; j < N; j++) {
    y[j] = 0;
    for (int i = 0; i < M; i++) y[j] += A[i][j] * tmp[i];
  }
}""",
    "bicg": """
void bicg(const double A[N][M], double s[M], double q[N], const double p[M], const double r[N]) {
  for (int j = 0; j < M; j++) s[j] = 0;
  for (int i = 0; i < N; i++) {
    q[i] = 0;
    for (int j = 0; j < M; j++) {
      s[j] += r[i] * A[i][j];
      q[i] += A[i][j] * p[j];
    }
  }
}""",
    "doitgen": """
void doitgen(double A[N][M][K], const double C4[K][K]) {
  double sum[N][M][K];
  for (int r = 0; r < N; r++)
    for (int q = 0; q < M; q++)
      for (int p = 0; p < K; p++) {
        sum[r][q][p] = 0;
        for (int s = 0; s < K; s++) sum[r][q][p] += A[r][q][s] * C4[s][p];
      }
  for (int r = 0; r < N; r++)
    for (int q = 0; q < M; q++)
      for (int p = 0; p < K; p++) A[r][q][p] = sum[r][q][p];
}""",
    "mvt": """
void mvt(double x1[N], double x2[N], const double y1[N], const double y2[N], const double A[N][N]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) x1[i] += A[i][j] * y1[j];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) x2[i] += A[j][i] * y2[j];
}""",
    "cholesky": """
void cholesky(double A[N][N]) {
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < i; j++) {
      for (int k = 0; k < j; k++) A[i][j] -= A[i][k] * A[j][k];
      A[i][j] /= A[j][j];
    }
    for (int k = 0; k < i; k++) A[i][i] -= A[i][k] * A[i][k];
    A[i][i] = sqrt(A[i][i]);
  }
}""",
    "durbin": """
void durbin(const double r[N], double y[N]) {
  double z[N], alpha = -r[0], beta = 1;
  y[0] = -r[0];
  for (int k = 1; k < N; k++) {
    beta = (1 - alpha * alpha) * beta;
    double s = 0;
    for (int i = 0; i < k; i++) s += r[k - i - 1] * y[i];
    alpha = -(r[k] + s) / beta;
    for (int i = 0; i < k; i++) z[i] = y[i] + alpha * y[k - i - 1];
    for (int i = 0; i < k; i++) y[i] = z[i];
    y[k] = alpha;
  }
}""",
    "gramschmidt": """
void gramschmidt(double A[N][M], double R[M][M], double Q[N][M]) {
  for (int k = 0; k < M; k++) {
    double norm = 0;
    for (int i = 0; i < N; i++) norm += A[i][k] * A[i][k];
    R[k][k] = sqrt(norm);
    for (int i = 0; i < N; i++) Q[i][k] = A[i][k] / R[k][k];
    for (int j = k + 1; j < M; j++) {
      R[k][j] = 0;
      for (int i = 0; i < N; i++) R[k][j] += Q[i][k] * A[i][j];
      for (int i = 0; i < N; i++) A[i][j] -= Q[i][k] * R[k][j];
    }
  }
}""",
    "lu": """
void lu(double A[N][N]) {
  for (int k = 0; k < N; k++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++)
        if (i > k && j > k) A[i][j] -= A[i][k] * A[k][j] / A[k][k];
}""",
    "ludcmp": """
void ludcmp(const double L[N][N], const double U[N][N], const double b[N], double x[N], double y[N]) {
  for (int i = 0; i < N; i++) {
    double w = b[i];
    for (int j = 0; j < i; j++) w -= L[i][j] * y[j];
    y[i] = w;
  }
  for (int i = N - 1; i >= 0; i--) {
    double w = y[i];
    for (int j = i + 1; j < N; j++) w -= U[i][j] * x[j];
    x[i] = w / U[i][i];
  }
}""",
    "trisolv": """
void trisolv(const double L[N][N], double x[N], const double b[N]) {
  for (int i = 0; i < N; i++) {
    x[i] = b[i];
    for (int j = 0; j < N; j++)
      if (j < i) x[i] -= L[i][j] * x[j];
    x[i] = x[i] / L[i][i];
  }
}""",
    "deriche": """
void deriche(const float in[N][M], float out[N][M], float a1, float a2, float b1, float b2) {
  float y1[N][M], y2[N][M];
  for (int i = 0; i < N; i++) {
    float p = 0, q = 0, x = 0;
    for (int j = 0; j < M; j++) {
      y1[i][j] = a1 * in[i][j] + a2 * x + b1 * p + b2 * q;
      x = in[i][j];
      q = p;
      p = y1[i][j];
    }
  }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) y2[i][j] = in[i][j];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) out[i][j] = y1[i][j] + y2[i][j];
}""",
    "floyd-warshall": """
void floyd(int path[N][N]) {
  for (int k = 0; k < N; k++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++)
        path[i][j] = path[i][j] < path[i][k] + path[k][j] ? path[i][j] : path[i][k] + path[k][j];
}""",
    "nussinov": """
void nussinov(const int seq[N], int table[N][N]) {
  for (int i = N - 1; i >= 0; i--)
    for (int j = i + 1; j < N; j++)
      for (int k = i + 1; k < j; k++) {
        int both = table[i][k] + table[k + 1][j] + (seq[i] + seq[j] == 3);
        if (both > table[i][j]) table[i][j] = both;
      }
}""",
    "adi": """
void adi(double u[N][N], double v[N][N], double p[N][N], double q[N][N], double a, double b, double c) {
  for (int t = 0; t < T; t++)
    for (int i = 1; i < N - 1; i++) {
      v[0][i] = 1;
      p[i][0] = 0;
      q[i][0] = v[0][i];
      for (int j = 1; j < N - 1; j++) {
        p[i][j] = -c / (a * p[i][j - 1] + b);
        q[i][j] = (u[j][i] - a * q[i][j - 1]) / (a * p[i][j - 1] + b);
      }
      v[N - 1][i] = 1;
      for (int j = N - 2; j >= 1; j--) v[j][i] = p[i][j] * v[j + 1][i] + q[i][j];
    }
}""",
    "fdtd-2d": """
void fdtd(double ex[N][M], double ey[N][M], double hz[N][M], const double fict[T]) {
  for (int j = 0; j < M; j++) ey[0][j] = fict[0];
  for (int i = 1; i < N; i++)
    for (int j = 0; j < M; j++) ey[i][j] -= 0.5 * (hz[i][j] - hz[i - 1][j]);
  for (int i = 0; i < N; i++)
    for (int j = 1; j < M; j++) ex[i][j] -= 0.5 * (hz[i][j] - hz[i][j - 1]);
  for (int i = 0; i < N - 1; i++)
    for (int j = 0; j < M - 1; j++) hz[i][j] -= 0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
}""",
    "heat-3d": """
void heat(double A[N][N][N], double B[N][N][N]) {
  for (int i = 1; i < N - 1; i++)
    for (int j = 1; j < N - 1; j++)
      for (int k = 1; k < N - 1; k++)
        B[i][j][k] = 0.125 * (A[i + 1][j][k] - 2.0 * A[i][j][k] + A[i - 1][j][k])
                   + 0.125 * (A[i][j + 1][k] - 2.0 * A[i][j][k] + A[i][j - 1][k])
                   + 0.125 * (A[i][j][k + 1] - 2.0 * A[i][j][k] + A[i][j][k - 1]) + A[i][j][k];
  for (int i = 1; i < N - 1; i++)
    for (int j = 1; j < N - 1; j++)
      for (int k = 1; k < N - 1; k++)
        A[i][j][k] = 0.125 * (B[i + 1][j][k] - 2.0 * B[i][j][k] + B[i - 1][j][k])
                   + 0.125 * (B[i][j + 1][k] - 2.0 * B[i][j][k] + B[i][j - 1][k])
                   + 0.125 * (B[i][j][k + 1] - 2.0 * B[i][j][k] + B[i][j][k - 1]) + B[i][j][k];
}""",
    "jacobi-1d": """
void jacobi1(double A[N], double B[N]) {
  for (int i = 1; i < N - 1; i++) B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1]);
  for (int i = 1; i < N - 1; i++) A[i] = 0.33333 * (B[i - 1] + B[i] + B[i + 1]);
}""",
    "jacobi-2d": """
void jacobi2(double A[N][N], double B[N][N]) {
  for (int i = 1; i < N - 1; i++)
    for (int j = 1; j < N - 1; j++)
      B[i][j] = 0.2 * (A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i + 1][j] + A[i - 1][j]);
  for (int i = 1; i < N - 1; i++)
    for (int j = 1; j < N - 1; j++)
      A[i][j] = 0.2 * (B[i][j] + B[i][j - 1] + B[i][j + 1] + B[i + 1][j] + B[i - 1][j]);
}""",
    "seidel-2d": """
void seidel(double A[N][N]) {
  for (int i = 1; i < N - 1; i++)
    for (int j = 1; j < N - 1; j++)
      A[i][j] = (A[i - 1][j - 1] + A[i - 1][j] + A[i - 1][j + 1] + A[i][j - 1] + A[i][j] + A[i][j + 1]
               + A[i + 1][j - 1] + A[i + 1][j] + A[i + 1][j + 1]) / 9.0;
}""",
}

PROGRAMS = {
    name: Source(f"{name}.c", f"#include <math.h>\n{SIZES}{text.strip()}\n") for name, text in _TEXTS.items()
}
