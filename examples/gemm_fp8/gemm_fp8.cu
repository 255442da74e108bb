// C = A·Bᵀ, e4m3 in, f32 out, with accumulation in two levels.
//
// A is M×K, B is N×K, C is M×N, row-major; M is a multiple of 64, N and K of
// 128. One warpgroup makes a 64×128 tile of C. The tensor core's own sum keeps
// fewer bits than f32, so a wgmma chain runs over 128 elements of K only, and
// ordinary additions join the chains. No thread has a role of its own: thread 0
// refills a slot when a CTA barrier has shown that all four warps are done.
#include "../hopper.cuh"

constexpr int tile_m = 64, tile_n = 128, tile_k = 128, stages = 3;
constexpr int a_bytes = tile_m * tile_k, b_bytes = tile_n * tile_k;

extern "C" __global__ __launch_bounds__(128) void gemm_fp8(const __grid_constant__ TensorMap a_map,
                                                           const __grid_constant__ TensorMap b_map, float *c, int n,
                                                           int k) {
  extern __shared__ __align__(1024) uint8_t slots[][a_bytes + b_bytes];
  __shared__ uint64_t full[stages];

  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row = blockIdx.x * tile_m, col = blockIdx.y * tile_n;
  const int steps = k / tile_k;

  auto load = [&](int i) {
    const int s = i % stages;
#ifdef BUG_BYTES
    mbarrier_arrive_expect_tx(&full[s], a_bytes);
#else
    mbarrier_arrive_expect_tx(&full[s], a_bytes + b_bytes);
#endif
    tma_load_2d(slots[s], &a_map, i * tile_k, row, &full[s]);
    tma_load_2d(slots[s] + a_bytes, &b_map, i * tile_k, col, &full[s]);
  };

  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; s++) mbarrier_init(&full[s], 1);
    for (int i = 0; i < stages && i < steps; i++) load(i);
  }
  __syncthreads();

  float sum[64] = {}, part[64] = {};
  for (int i = 0; i < steps; i++) {
    const int s = i % stages;
    mbarrier_wait(&full[s], i / stages % 2);
    const uint64_t a = descriptor_k_major(slots[s]), b = descriptor_k_major(slots[s] + a_bytes);
    pin(part);
    wgmma_fence();
#pragma unroll
    for (int kk = 0; kk < tile_k / 32; kk++) wgmma_m64n128k32_e4m3(part, a + 2 * kk, b + 2 * kk, kk > 0);
    wgmma_commit_group();
#ifdef BUG_EARLY_REFILL
    __syncthreads();
    if (threadIdx.x == 0 && i + stages < steps) load(i + stages);
#endif
#if defined(BUG_WAIT_ONE)
    wgmma_wait_group<1>();
#elif defined(BUG_ONE_WARP_WAITS)
    if (warp == 0) wgmma_wait_group<0>();
#else
    wgmma_wait_group<0>();
#endif
    pin(part);
#pragma unroll
    for (int j = 0; j < 64; j++) sum[j] += part[j];
#ifndef BUG_EARLY_REFILL
    __syncthreads();  // every warp's wgmma has read the slot
    if (threadIdx.x == 0 && i + stages < steps) load(i + stages);
#endif
  }

  float *out = c + (row + warp * 16 + lane / 4) * n + col + lane % 4 * 2;
#pragma unroll
  for (int j = 0; j < tile_n / 8; j++) {
    *reinterpret_cast<float2 *>(out + j * 8) = make_float2(sum[4 * j], sum[4 * j + 1]);
    *reinterpret_cast<float2 *>(out + 8 * n + j * 8) = make_float2(sum[4 * j + 2], sum[4 * j + 3]);
  }
}
