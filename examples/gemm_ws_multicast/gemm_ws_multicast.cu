// C = A·Bᵀ, f16 in, f32 out: a warp-specialized GEMM in clusters of two.
//
// A is M×K, B is N×K, C is M×N, row-major; M is a multiple of 256, N of 128, K
// of 64. A CTA makes a 128×128 tile of C. Its three warpgroups have roles: the
// first loads, by one of its threads; the other two multiply 64 rows each. A
// ring of four slots lies between them. The two CTAs of a cluster stand one
// above the other and need the same columns of B: each loads half of that tile
// and multicasts it to both. So a slot is free only when it is free in both.
#include "../hopper.cuh"

constexpr int tile_m = 128, tile_n = 128, tile_k = 64, stages = 4;
constexpr int a_bytes = tile_m * tile_k * 2, b_bytes = tile_n * tile_k * 2;
constexpr int ctas = 2, consumer_warps = 8;

// The consumers' half of a slot's protocol: a warp that is done reading says so
// to the producers of both CTAs, since both write into the slot.
HOPPER_INLINE void release(uint64_t *empty, int lane) {
#ifdef BUG_LOCAL_RELEASE
  if (lane == 0) mbarrier_arrive(empty);
#else
  if (lane < ctas) mbarrier_arrive_remote(empty, lane);
#endif
}

extern "C" __global__ __cluster_dims__(ctas, 1, 1) __launch_bounds__(384, 1) void gemm_ws_multicast(
    const __grid_constant__ TensorMap a_map, const __grid_constant__ TensorMap b_map, float *c, int n, int k) {
  extern __shared__ __align__(1024) uint8_t slots[][a_bytes + b_bytes];
  __shared__ uint64_t full[stages], empty[stages];

  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row = blockIdx.x * tile_m, col = blockIdx.y * tile_n;
  const int steps = k / tile_k;

  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; s++) {
      mbarrier_init(&full[s], 1);
#if defined(BUG_COUNT) || defined(BUG_LOCAL_RELEASE)
      mbarrier_init(&empty[s], consumer_warps);
#else
      mbarrier_init(&empty[s], ctas * consumer_warps);
#endif
    }
    fence_mbarrier_init();
  }
#ifdef BUG_START
  __syncthreads();
#else
  cluster_sync();  // the peer runs, and its barriers are there
#endif

  if (warp < 4) {
    setmaxnreg_dec<40>();
    if (warp == 0 && elect_sync()) {
      const int half = cluster_ctarank();
      for (int i = 0; i < steps; i++) {
        const int s = i % stages;
        mbarrier_wait_cluster(&empty[s], (i / stages + 1) % 2);
        // What lands here: a tile of A, this CTA's half of B, and the peer's.
#ifdef BUG_BYTES
        mbarrier_arrive_expect_tx(&full[s], a_bytes);
#else
        mbarrier_arrive_expect_tx(&full[s], a_bytes + b_bytes);
#endif
        tma_load_2d(slots[s], &a_map, i * tile_k, row, &full[s]);
        tma_load_2d_multicast(slots[s] + a_bytes + half * b_bytes / 2, &b_map, i * tile_k, col + half * tile_n / 2,
                              &full[s], 0b11);
      }
    }
  } else {
    setmaxnreg_inc<232>();
    const int m = (warp / 4 - 1) * 64;  // this warpgroup's first row in the tile
    float d[64] = {};
    pin(d);
    for (int i = 0; i < steps; i++) {
      const int s = i % stages;
      mbarrier_wait_cluster(&full[s], i / stages % 2);
      const uint64_t a = descriptor_k_major(slots[s] + m * tile_k * 2);
      const uint64_t b = descriptor_k_major(slots[s] + a_bytes);
      wgmma_fence();
#pragma unroll
      for (int kk = 0; kk < tile_k / 16; kk++) wgmma_m64n128k16_f16(d, a + 2 * kk, b + 2 * kk);  // 32 bytes on
      wgmma_commit_group();
#ifdef BUG_EARLY_RELEASE
      release(&empty[s], lane);
#else
      // One group stays in flight; the one before it has read its slot.
      wgmma_wait_group<1>();
      if (i > 0) release(&empty[(i - 1) % stages], lane);
#endif
    }
#ifdef BUG_LAST_WAIT
    wgmma_wait_group<1>();
#else
    wgmma_wait_group<0>();
#endif
    pin(d);
    float *out = c + (row + m + warp % 4 * 16 + lane / 4) * n + col + lane % 4 * 2;
#pragma unroll
    for (int j = 0; j < tile_n / 8; j++) {
      *reinterpret_cast<float2 *>(out + j * 8) = make_float2(d[4 * j], d[4 * j + 1]);
      *reinterpret_cast<float2 *>(out + 8 * n + j * 8) = make_float2(d[4 * j + 2], d[4 * j + 3]);
    }
  }
#ifndef BUG_EXIT
  cluster_sync();  // the peer still copies to this CTA, and arrives on its barriers
#endif
}
