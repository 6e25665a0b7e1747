/* The machine's limits: multiply-adds in registers, and a plain copy and a plain read of memory. */

template <typename T>
__device__ void multiply_add(T *sink, int rounds) {
  T x[16], a = T(0.999999), b = T(threadIdx.x) * T(1e-7);
#pragma unroll
  for (int i = 0; i < 16; i++) x[i] = T(i + 1);
#pragma unroll 16
  for (int k = 0; k < rounds; k++)
#pragma unroll
    for (int i = 0; i < 16; i++) x[i] = x[i] * a + b;
  T sum = 0;
#pragma unroll
  for (int i = 0; i < 16; i++) sum += x[i];
  if (sum == T(-1)) *sink = sum;
}

extern "C" __global__ void fma32(float *sink, int rounds) { multiply_add(sink, rounds); }
extern "C" __global__ void fma64(double *sink, int rounds) { multiply_add(sink, rounds); }

#define EACH 4

/* count: of 16 bytes; a block takes EACH times as many neighbours as it has threads */
extern "C" __global__ void copy_all(const float4 *from, float4 *to, long long count) {
  long long at = (long long)blockIdx.x * blockDim.x * EACH + threadIdx.x;
  float4 held[EACH];
#pragma unroll
  for (int i = 0; i < EACH; i++)
    if (at + i * blockDim.x < count) held[i] = __ldcs(from + at + i * blockDim.x);
#pragma unroll
  for (int i = 0; i < EACH; i++)
    if (at + i * blockDim.x < count) __stcs(to + at + i * blockDim.x, held[i]);
}

extern "C" __global__ void read_all(const float4 *from, float *sink, long long count) {
  float sum = 0;
  long long step = (long long)gridDim.x * blockDim.x;
  long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  for (; at + 3 * step < count; at += 4 * step) {
    float4 held[4];
#pragma unroll
    for (int i = 0; i < 4; i++) held[i] = __ldcs(from + at + i * step);
#pragma unroll
    for (int i = 0; i < 4; i++) sum += held[i].x + held[i].y + held[i].z + held[i].w;
  }
  for (; at < count; at += step) {
    float4 held = __ldcs(from + at);
    sum += held.x + held.y + held.z + held.w;
  }
  if (sum == -1.0f) *sink = sum;
}
