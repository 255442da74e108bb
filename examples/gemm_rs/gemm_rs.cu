// C = A·B, bf16 in, f32 out, with A from registers.
//
// A is M×K, B is K×N, C is M×N, row-major; M and K are multiples of 64, N of
// 128. A CTA makes a 64×128 tile of C: warps 0 to 3 multiply, warp 4 loads. A
// comes by ldmatrix into fragments, which is where a kernel would change it on
// the way; B stays in shared memory as it lies in global memory, N contiguous.
// wgmma reads the fragments' registers after it was issued: a fence goes
// between writing them and the wgmma, a wait between the wgmma and writing them
// again.
#include "../hopper.cuh"

constexpr int tile_m = 64, tile_n = 128, tile_k = 64, stages = 3;
constexpr int a_bytes = tile_m * tile_k * 2;
constexpr int half_bytes = tile_k * 128, b_bytes = 2 * half_bytes;  // a tile of B is two boxes of 64 columns

extern "C" __global__ __launch_bounds__(160) void gemm_rs(const __grid_constant__ TensorMap a_map,
                                                          const __grid_constant__ TensorMap b_map, float *c, int n,
                                                          int k) {
  extern __shared__ __align__(1024) uint8_t slots[][a_bytes + b_bytes];
  __shared__ uint64_t full[stages], empty[stages];

  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row = blockIdx.x * tile_m, col = blockIdx.y * tile_n;
  const int steps = k / tile_k;

  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; s++) {
      mbarrier_init(&full[s], 1);
      mbarrier_init(&empty[s], 4);
    }
  }
  __syncthreads();

  if (warp == 4) {
    if (lane == 0) {
      for (int i = 0; i < steps; i++) {
        const int s = i % stages;
        mbarrier_wait(&empty[s], (i / stages + 1) % 2);
        mbarrier_arrive_expect_tx(&full[s], a_bytes + b_bytes);
        tma_load_2d(slots[s], &a_map, i * tile_k, row, &full[s]);
        tma_load_2d(slots[s] + a_bytes, &b_map, col, i * tile_k, &full[s]);
        tma_load_2d(slots[s] + a_bytes + half_bytes, &b_map, col + 64, i * tile_k, &full[s]);
      }
    }
    return;
  }

  float d[64] = {};
  uint32_t a[tile_k / 16 * 4];  // four registers a step of 16 along K
  for (int i = 0; i < steps; i++) {
    const int s = i % stages;
    mbarrier_wait(&full[s], i / stages % 2);
    const uint32_t at = shared_address(slots[s]);
#pragma unroll
    for (int kk = 0; kk < tile_k / 16; kk++)
      ldmatrix_x4(a + 4 * kk, at + swizzle_128B(warp * 16 + lane % 16, kk * 2 + lane / 16));
#ifdef BUG_LATE_WAIT
    wgmma_wait_group<0>();  // of the step before, whose fragments are already overwritten
    fence_proxy_async();
    __syncwarp();
    if (i > 0 && lane == 0) mbarrier_arrive(&empty[(i - 1) % stages]);
#endif
    pin(a);
    pin(d);
#ifndef BUG_NO_WGMMA_FENCE
    wgmma_fence();
#endif
    // N-major: an atom is 8 rows of K, 128 bytes along N. The next 8 rows are
    // 1,024 bytes on, the next 64 columns in the other box.
#pragma unroll
    for (int kk = 0; kk < tile_k / 16; kk++)
      wgmma_m64n128k16_bf16_rs(d, a + 4 * kk, descriptor_128B(slots[s] + a_bytes + kk * 2048, half_bytes, 1024));
    wgmma_commit_group();
#ifndef BUG_LATE_WAIT
#ifdef BUG_WAIT_ONE
    wgmma_wait_group<1>();
#else
    wgmma_wait_group<0>();
#endif
    pin(a);
    pin(d);
    // All lanes have read with ldmatrix, and the next copy overwrites: to the
    // asynchronous proxy, and from the other lanes to the one that arrives.
    fence_proxy_async();
#ifndef BUG_NO_SYNCWARP
    __syncwarp();
#endif
    if (lane == 0) mbarrier_arrive(&empty[s]);
#endif
  }
  wgmma_wait_group<0>();
  pin(d);

  float *out = c + (row + warp * 16 + lane / 4) * n + col + lane % 4 * 2;
#pragma unroll
  for (int j = 0; j < tile_n / 8; j++) {
    *reinterpret_cast<float2 *>(out + j * 8) = make_float2(d[4 * j], d[4 * j + 1]);
    *reinterpret_cast<float2 *>(out + 8 * n + j * 8) = make_float2(d[4 * j + 2], d[4 * j + 3]);
  }
}
