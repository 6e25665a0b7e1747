/* The machine's limits: multiply-adds in registers, reads and copies of memory. Each returns seconds. */
#include <omp.h>
#include <stddef.h>
#include <string.h>

#define VECTORS 12
#ifndef BYTES
#define BYTES 32
#endif

#define FMA(NAME, TYPE)                                                              \
  typedef TYPE vec_##NAME __attribute__((vector_size(BYTES)));                       \
  double NAME(long rounds, double *sink) {                                           \
    double start = omp_get_wtime();                                                  \
    _Pragma("omp parallel") {                                                        \
      vec_##NAME x[VECTORS], a, b;                                                   \
      for (size_t l = 0; l < BYTES / sizeof(TYPE); l++) a[l] = (TYPE)0.999999, b[l] = (TYPE)1e-7; \
      for (int i = 0; i < VECTORS; i++)                                              \
        for (size_t l = 0; l < BYTES / sizeof(TYPE); l++) x[i][l] = (TYPE)(i + 1);   \
      for (long k = 0; k < rounds; k++)                                              \
        _Pragma("GCC unroll 12") for (int i = 0; i < VECTORS; i++) x[i] = x[i] * a + b;                             \
      double sum = 0;                                                                \
      for (int i = 0; i < VECTORS; i++) sum += x[i][0];                              \
      _Pragma("omp critical") *sink += sum;                                          \
    }                                                                                \
    return omp_get_wtime() - start;                                                  \
  }
FMA(fma32, float)
FMA(fma64, double)

/* numpy's arrays are aligned to less than a vector */
typedef float vec __attribute__((vector_size(BYTES), aligned(4)));

double read_all(const float *a, long n, double *sink) {
  double start = omp_get_wtime(), all = 0;
#pragma omp parallel reduction(+ : all)
  {
    long t = omp_get_thread_num(), p = omp_get_num_threads(), each = n / p;
    const vec *v = (const vec *)(a + t * each);
    vec s[4] = {0};
    for (long i = 0; i < each * (long)sizeof(float) / BYTES; i += 4)
      for (int j = 0; j < 4; j++) s[j] += v[i + j];
    for (int j = 0; j < 4; j++) all += s[j][0];
  }
  *sink += all;
  return omp_get_wtime() - start;
}

typedef float vec4 __attribute__((vector_size(16)));

double copy_all(float *a, const float *b, long n, int stream) {
  double start = omp_get_wtime();
#pragma omp parallel
  {
    long t = omp_get_thread_num(), p = omp_get_num_threads(), each = n / p;
    float *to = a + t * each;
    const float *from = b + t * each;
    if (stream) {
#ifdef __x86_64__
      for (long i = 0; i < each; i += 4)
        __builtin_ia32_movntps(to + i, *(const vec4 *)(from + i));
      __builtin_ia32_sfence();
#else
      memcpy(to, from, each * sizeof(float));
#endif
    } else
      for (long i = 0; i < each * (long)sizeof(float) / BYTES; i++) ((vec *)to)[i] = ((const vec *)from)[i];
  }
  return omp_get_wtime() - start;
}
