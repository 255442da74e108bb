// Cooperative groups: tiles, coalesced and labelled groups, grid and cluster.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

extern "C" __global__ void tile_sum(const int *in, int *out, int n) {
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  int v = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) v += in[i];
  v = cg::reduce(tile, v, cg::plus<int>());
  int before = cg::exclusive_scan(tile, v);
  if (tile.thread_rank() == 0) out[blockIdx.x * tile.meta_group_size() + tile.meta_group_rank()] = v + before;
}

extern "C" __global__ void compact(const int *in, int *out, int *count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] > 0) {
    auto active = cg::coalesced_threads();
    int base = 0;
    if (active.thread_rank() == 0) base = atomicAdd(count, active.size());
    base = active.shfl(base, 0);
    out[base + active.thread_rank()] = in[i];
  }
}

extern "C" __global__ void by_label(const int *keys, int *sizes) {
  auto group = cg::labeled_partition(cg::coalesced_threads(), keys[threadIdx.x] & 3);
  sizes[threadIdx.x] = group.size() * 100 + group.thread_rank();
}

extern "C" __global__ void jacobi(float *a, float *b, int n, int turns) {
  auto grid = cg::this_grid();
  for (int t = 0; t < turns; t++) {
    for (unsigned i = grid.thread_rank() + 1; i + 1 < n; i += grid.size()) b[i] = 0.5f * (a[i - 1] + a[i + 1]);
    grid.sync();
    float *s = a; a = b; b = s;
  }
}

#if __CUDA_ARCH__ >= 900
extern "C" __global__ void __cluster_dims__(4, 1, 1) cluster_histogram(const int *in, int *out, int n) {
  __shared__ int bins[64];
  auto cluster = cg::this_cluster();
  for (int i = threadIdx.x; i < 64; i += blockDim.x) bins[i] = 0;
  cluster.sync();
  for (int i = cluster.thread_rank(); i < n; i += cluster.size()) {
    int bin = in[i] & 255;
    atomicAdd(cluster.map_shared_rank(&bins[bin & 63], bin >> 6), 1);
  }
  cluster.sync();
  for (int i = threadIdx.x; i < 64; i += blockDim.x) atomicAdd(&out[cluster.block_rank() * 64 + i], bins[i]);
}
#endif
