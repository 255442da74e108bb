// CUB: a block's scan, sort and reduction.
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

extern "C" __global__ void __launch_bounds__(128) block_scan(const int *in, int *out) {
  using Scan = cub::BlockScan<int, 128>;
  __shared__ typename Scan::TempStorage temp;
  int v[2] = {in[2 * threadIdx.x], in[2 * threadIdx.x + 1]}, total;
  Scan(temp).ExclusiveSum(v, v, total);
  out[2 * threadIdx.x] = v[0];
  out[2 * threadIdx.x + 1] = v[1] + total;
}
extern "C" __global__ void __launch_bounds__(64) block_sort(unsigned *keys) {
  using Sort = cub::BlockRadixSort<unsigned, 64, 2>;
  __shared__ typename Sort::TempStorage temp;
  unsigned k[2] = {keys[2 * threadIdx.x], keys[2 * threadIdx.x + 1]};
  Sort(temp).Sort(k, 0, 8);
  keys[2 * threadIdx.x] = k[0];
  keys[2 * threadIdx.x + 1] = k[1];
}
extern "C" __global__ void __launch_bounds__(256) block_max(const float *in, float *out) {
  using Reduce = cub::BlockReduce<float, 256>;
  __shared__ typename Reduce::TempStorage temp;
  float m = Reduce(temp).Reduce(in[threadIdx.x], [](float a, float b) { return a > b ? a : b; });
  if (threadIdx.x == 0) *out = m;
}
