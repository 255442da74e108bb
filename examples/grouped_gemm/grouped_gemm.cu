// C[g] = A[g]·B[g]ᵀ for several problems in one launch, f16 in, f32 out.
//
// Problem g has its own M×K matrix A, N×K matrix B and M×N matrix C, row-major;
// K is a multiple of 64, N is even. M and N need no multiple: a box that
// reaches over the edge lands as zeros there, and the epilogue looks. CTA i
// takes the 64×64 tiles i, i + gridDim.x, and so on, through all problems. The
// launch brings one pair of tensor maps as patterns; when a CTA comes to
// another problem, its loading warp writes that problem's maps into the CTA's
// place in global memory.
#include "../hopper.cuh"

constexpr int tile = 64, stages = 3;
constexpr int tile_bytes = tile * tile * 2;

struct Problem {
  uint64_t a, b;  // addresses, f16
  float *c;
};
struct Size {
  int m, n, k;
};

struct Place {
  int problem, row, col;  // problem < 0: no tile left
};

// Tile t of the list of all tiles of all problems.
HOPPER_INLINE Place place(int t, const Size *sizes, int problems) {
  for (int g = 0; g < problems; g++) {
    const int columns = (sizes[g].n + tile - 1) / tile;
    const int tiles = (sizes[g].m + tile - 1) / tile * columns;
    if (t < tiles) return {g, t / columns * tile, t % columns * tile};
    t -= tiles;
  }
  return {-1, 0, 0};
}

// Writes the map of a rows×k matrix, f16, to global memory. The whole warp.
HOPPER_INLINE void make_map(TensorMap *map, TensorMap *staged, const TensorMap &pattern, uint64_t address, int rows,
                                int k, int lane) {
  reinterpret_cast<uint32_t *>(staged)[lane] = reinterpret_cast<const uint32_t *>(&pattern)[lane];
  __syncwarp();
  if (lane == 0) {
    tensormap_replace_address(staged, address);
    tensormap_replace_dim<0>(staged, k);
    tensormap_replace_dim<1>(staged, rows);
    tensormap_replace_stride<0>(staged, k * 2);
  }
  __syncwarp();
#ifdef BUG_NO_RELEASE
  reinterpret_cast<uint32_t *>(map)[lane] = reinterpret_cast<const uint32_t *>(staged)[lane];
#else
  tensormap_cp_fenceproxy(map, staged);
#endif
  __syncwarp();
}

extern "C" __global__ __launch_bounds__(160) void grouped_gemm(const __grid_constant__ TensorMap a_pattern,
                                                               const __grid_constant__ TensorMap b_pattern,
                                                               const Problem *list, const Size *sizes, int problems,
                                                               TensorMap *maps) {
  extern __shared__ __align__(1024) uint8_t slots[][2 * tile_bytes];
  __shared__ uint64_t full[stages], empty[stages];
  __shared__ __align__(128) TensorMap staged[2];

  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; s++) {
      mbarrier_init(&full[s], 1);
      mbarrier_init(&empty[s], 4);
    }
  }
  __syncthreads();

  int use = 0;  // of the ring
  if (warp == 4) {
    TensorMap *a_map = maps + 2 * blockIdx.x, *b_map = a_map + 1;
    int current = -1;
    for (int t = blockIdx.x;; t += gridDim.x) {
      const Place p = place(t, sizes, problems);
      if (p.problem < 0) return;
      const Size size = sizes[p.problem];
      if (p.problem != current) {
        current = p.problem;
#ifndef BUG_NO_DRAIN
        // Copies read their map while they run: the old maps stay until the last ones have landed.
        for (int u = use < stages ? 0 : use - stages; u < use; u++) mbarrier_wait(&full[u % stages], u / stages % 2);
#endif
        __syncwarp();
        make_map(a_map, &staged[0], a_pattern, list[current].a, size.m, size.k, lane);
        make_map(b_map, &staged[1], b_pattern, list[current].b, size.n, size.k, lane);
#ifndef BUG_NO_ACQUIRE
        if (lane == 0) {
          fence_proxy_tensormap_acquire(a_map);
          fence_proxy_tensormap_acquire(b_map);
        }
#endif
      }
      for (int i = 0; i < size.k / tile; i++, use++) {
        const int s = use % stages;
        if (lane == 0) {
          mbarrier_wait(&empty[s], (use / stages + 1) % 2);
          mbarrier_arrive_expect_tx(&full[s], 2 * tile_bytes);  // whole boxes, also over an edge
          tma_load_2d(slots[s], a_map, i * tile, p.row, &full[s]);
          tma_load_2d(slots[s] + tile_bytes, b_map, i * tile, p.col, &full[s]);
        }
      }
      __syncwarp();
    }
  }

  for (int t = blockIdx.x;; t += gridDim.x) {
    const Place p = place(t, sizes, problems);
    if (p.problem < 0) return;
    const Size size = sizes[p.problem];
    float d[32] = {};
    for (int i = 0; i < size.k / tile; i++, use++) {
      const int s = use % stages;
      mbarrier_wait(&full[s], use / stages % 2);
      const uint64_t a = descriptor_k_major(slots[s]), b = descriptor_k_major(slots[s] + tile_bytes);
      pin(d);
      wgmma_fence();
#pragma unroll
      for (int kk = 0; kk < tile / 16; kk++) wgmma_m64n64k16_f16(d, a + 2 * kk, b + 2 * kk);
      wgmma_commit_group();
      wgmma_wait_group<0>();
      pin(d);
      if (lane == 0) mbarrier_arrive(&empty[s]);
    }
    const int row = p.row + warp * 16 + lane / 4, col = p.col + lane % 4 * 2;
    float *out = list[p.problem].c + row * size.n + col;
#pragma unroll
    for (int j = 0; j < tile / 8; j++) {
      if (col + j * 8 >= size.n) break;
      if (row < size.m) *reinterpret_cast<float2 *>(out + j * 8) = make_float2(d[4 * j], d[4 * j + 1]);
      if (row + 8 < size.m)
        *reinterpret_cast<float2 *>(out + 8 * size.n + j * 8) = make_float2(d[4 * j + 2], d[4 * j + 3]);
    }
  }
}
