// Histogram: H[b] grows by one for every element of B that is b; each element lies in 0 <= b < BINS.
// Sizes: 2^24 elements into 256 bins (no published measurement of the scattered form).
#ifndef N
#define N 16777216
#endif
#ifndef BINS
#define BINS 256
#endif

void histogram(const int B[N], int H[BINS]) {
  for (int i = 0; i < N; i++)
    H[B[i]] += 1;
}
