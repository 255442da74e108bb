// C = A·Bᵀ, f16 in and out: CTAs that stay and take tile after tile, and an
// epilogue through stmatrix and tensor stores.
//
// A is M×K, B is N×K, C is M×N, row-major; M and K are multiples of 64, N of
// 128. CTA i takes the 64×128 tiles i, i + gridDim.x, and so on. Warps 0 to 3
// multiply; warp 4 loads, and runs ahead into the next tile while they store.
// The stores leave from two buffers in turn.
#include "../hopper.cuh"

constexpr int tile_m = 64, tile_n = 128, tile_k = 64, stages = 3;
constexpr int a_bytes = tile_m * tile_k * 2, b_bytes = tile_n * tile_k * 2;
constexpr int half_bytes = tile_m * 128, c_bytes = 2 * half_bytes;  // a tile of C is two boxes of 64 columns
constexpr int consumers = 128;

struct Shared {
  uint8_t slots[stages][a_bytes + b_bytes];
  uint8_t c[2][c_bytes];
};

extern "C" __global__ __launch_bounds__(consumers + 32) void gemm_persistent_stmatrix(
    const __grid_constant__ TensorMap a_map, const __grid_constant__ TensorMap b_map,
    const __grid_constant__ TensorMap c_map, int m, int n, int k) {
  extern __shared__ __align__(1024) uint8_t memory[];
  __shared__ uint64_t full[stages], empty[stages];
  Shared &shared = *reinterpret_cast<Shared *>(memory);

  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int columns = n / tile_n, tiles = m / tile_m * columns, steps = k / tile_k;

  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; s++) {
      mbarrier_init(&full[s], 1);
      mbarrier_init(&empty[s], consumers / 32);
    }
  }
  __syncthreads();

  // Both roles count the ring's uses alike, from the first tile to the last.
  int use = 0;
  if (warp == consumers / 32) {
    if (lane == 0) {
      for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const int row = tile / columns * tile_m, col = tile % columns * tile_n;
        for (int i = 0; i < steps; i++, use++) {
          const int s = use % stages;
          mbarrier_wait(&empty[s], (use / stages + 1) % 2);
          mbarrier_arrive_expect_tx(&full[s], a_bytes + b_bytes);
          tma_load_2d(shared.slots[s], &a_map, i * tile_k, row, &full[s]);
          tma_load_2d(shared.slots[s] + a_bytes, &b_map, i * tile_k, col, &full[s]);
        }
      }
    }
    return;
  }

  int turn = 0;  // the buffer of C
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x, turn ^= 1) {
    const int row = tile / columns * tile_m, col = tile % columns * tile_n;
    float d[64] = {};
    for (int i = 0; i < steps; i++, use++) {
      const int s = use % stages;
      mbarrier_wait(&full[s], use / stages % 2);
      const uint64_t a = descriptor_k_major(shared.slots[s]);
      const uint64_t b = descriptor_k_major(shared.slots[s] + a_bytes);
      pin(d);
      wgmma_fence();
#pragma unroll
      for (int kk = 0; kk < tile_k / 16; kk++) wgmma_m64n128k16_f16(d, a + 2 * kk, b + 2 * kk);
      wgmma_commit_group();
      wgmma_wait_group<0>();
      pin(d);
      if (lane == 0) mbarrier_arrive(&empty[s]);
    }

    // The store before the last left from this buffer. Thread 0 issued it, so
    // thread 0 alone can wait for it.
#if defined(BUG_OTHER_WAITS)
    if (threadIdx.x == 32) bulk_wait_group_read<1>();
#elif !defined(BUG_NO_WAIT_READ)
    if (threadIdx.x == 0) bulk_wait_group_read<1>();
#endif
    named_barrier_sync(1, consumers);

    // A warp has 16 rows. Four 8×8 matrices an stmatrix: rows 0 to 7 and 8 to
    // 15 of one 16-byte column, then of the next.
    const uint32_t at = shared_address(shared.c[turn]);
    const int r = warp * 16 + lane % 16;
#pragma unroll
    for (int j = 0; j < tile_n / 8; j += 2) {
      const int chunk = j + lane / 16;
      stmatrix_x4(at + chunk / 8 * half_bytes + swizzle_128B(r, chunk % 8), cvt_f16x2(d[4 * j], d[4 * j + 1]),
                  cvt_f16x2(d[4 * j + 2], d[4 * j + 3]), cvt_f16x2(d[4 * j + 4], d[4 * j + 5]),
                  cvt_f16x2(d[4 * j + 6], d[4 * j + 7]));
    }
#ifndef BUG_NO_FENCE
    fence_proxy_async();  // ordinary stores, read by an asynchronous one
#endif
#ifndef BUG_NO_BARRIER
    named_barrier_sync(1, consumers);
#endif
    if (threadIdx.x == 0) {
      tma_store_2d(&c_map, col, row, shared.c[turn]);
      tma_store_2d(&c_map, col + 64, row, shared.c[turn] + half_bytes);
      bulk_commit_group();
    }
  }
#ifndef BUG_EXIT
  if (threadIdx.x == 0) bulk_wait_group<0>();  // shared memory goes when the CTA does
#endif
}
