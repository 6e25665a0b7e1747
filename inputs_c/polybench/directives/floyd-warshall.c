// The shortest paths between all pairs of vertices.
// With OpenMP directives, and the promise that arrays are distinct.
#ifndef N
#define N 2800
#endif

void floyd_warshall(int path[restrict N][N]) {
  for (int k = 0; k < N; k++)
    #pragma omp parallel for
    for (int i = 0; i < N; i++)
      #pragma omp simd
      for (int j = 0; j < N; j++)
        path[i][j] = path[i][j] < path[i][k] + path[k][j] ? path[i][j] : path[i][k] + path[k][j];
}
