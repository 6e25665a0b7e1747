/* CUB's device-wide algorithms by plain C names. Without `space` a call only says how many `bytes` it needs. */
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

struct Start {
  long width;
  __host__ __device__ long operator()(long row) const { return row * width; }
};

static auto starts(long width, long first) {
  return thrust::make_transform_iterator(thrust::make_counting_iterator(first), Start{width});
}

using Pair = cub::KeyValuePair<int, float>;

extern "C" {
int scan(void *space, size_t *bytes, const float *in, float *out, long n, long, cudaStream_t stream) {
  return cub::DeviceScan::InclusiveSum(space, *bytes, in, out, n, stream);
}
int histogram(void *space, size_t *bytes, const int *in, int *out, long n, long bins, cudaStream_t stream) {
  return cub::DeviceHistogram::HistogramEven(space, *bytes, in, out, int(bins + 1), 0, int(bins), int(n), stream);
}
int row_max(void *space, size_t *bytes, const float *in, float *out, long rows, long width, cudaStream_t stream) {
  return cub::DeviceSegmentedReduce::Max(space, *bytes, in, out, rows, starts(width, 0), starts(width, 1), stream);
}
int row_argmax(void *space, size_t *bytes, const float *in, void *out, long rows, long width, cudaStream_t stream) {
  return cub::DeviceSegmentedReduce::ArgMax(space, *bytes, in, (Pair *)out, rows, starts(width, 0),
                                            starts(width, 1), stream);
}
}
