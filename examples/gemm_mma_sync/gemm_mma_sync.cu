// C = A·B, bf16 in, f32 out, the way of Ampere: every thread copies with
// cp.async and every warp multiplies with mma.sync.
//
// A is M×K, B is K×N, C is M×N, row-major; M and N are multiples of 64, K of
// 32. Four warps make a 64×64 tile of C, 32×32 each. Rows in shared memory are
// longer than the tile's by 16 bytes, so that ldmatrix meets no bank twice.
#include "../hopper.cuh"

constexpr int tile_m = 64, tile_n = 64, tile_k = 32, stages = 3;
constexpr int a_pitch = tile_k * 2 + 16, b_pitch = tile_n * 2 + 16;  // bytes

// 16 bytes from global to shared memory, in the thread's current group.
HOPPER_INLINE void cp_async(void *dst, const void *src) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(dst)), "l"(__cvta_generic_to_global(src))
               : "memory");
}
HOPPER_INLINE void cp_async_commit_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// Until at most n of this thread's groups have not landed.
template <int n>
HOPPER_INLINE void cp_async_wait_group() {
  asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory");
}

// D += A·B, 16×8×16.
HOPPER_INLINE void mma_m16n8k16_bf16(float *d, const uint32_t *a, const uint32_t *b) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

extern "C" __global__ __launch_bounds__(128) void gemm_mma_sync(const uint16_t *a, const uint16_t *b, float *c, int n,
                                                                int k) {
  __shared__ __align__(16) uint8_t a_slots[stages][tile_m][a_pitch];
  __shared__ __align__(16) uint8_t b_slots[stages][tile_k][b_pitch];

  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row = blockIdx.x * tile_m, col = blockIdx.y * tile_n;
  const int wm = warp / 2 * 32, wn = warp % 2 * 32;  // the warp's corner of the tile
  const int steps = k / tile_k;

  // Two chunks of 16 bytes of either operand for each thread.
  auto load = [&](int i) {
    const int s = i % stages;
    for (int at = threadIdx.x; at < tile_m * tile_k / 8; at += 128) {
      const int r = at / (tile_k / 8), chunk = at % (tile_k / 8);
      cp_async(&a_slots[s][r][chunk * 16], a + (row + r) * k + i * tile_k + chunk * 8);
    }
    for (int at = threadIdx.x; at < tile_k * tile_n / 8; at += 128) {
      const int r = at / (tile_n / 8), chunk = at % (tile_n / 8);
      cp_async(&b_slots[s][r][chunk * 16], b + (i * tile_k + r) * n + col + chunk * 8);
    }
  };

  for (int i = 0; i < stages - 1; i++) {
    if (i < steps) load(i);
    cp_async_commit_group();
  }
  float d[2][4][4] = {};
  for (int i = 0; i < steps; i++) {
    // The thread's own copies for this step have landed, then everyone's. The
    // same barrier says that all are done with the slot that is refilled next.
#ifndef BUG_WAIT_AFTER_SYNC
    cp_async_wait_group<stages - 2>();
#endif
#ifndef BUG_NO_SYNC
    __syncthreads();
#endif
#ifdef BUG_WAIT_AFTER_SYNC
    cp_async_wait_group<stages - 2>();
#endif
    // A group is committed in every step, empty or not: the count above stays right to the end.
#ifdef BUG_LAST_WAIT
    if (i + stages - 1 < steps) {
      load(i + stages - 1);
      cp_async_commit_group();
    }
#else
    if (i + stages - 1 < steps) load(i + stages - 1);
    cp_async_commit_group();
#endif
    const int s = i % stages;
#pragma unroll
    for (int kk = 0; kk < tile_k; kk += 16) {
      uint32_t fa[2][4], fb[2][4];  // fb[j]: two fragments of B, of eight columns each
      for (int j = 0; j < 2; j++) {
        ldmatrix_x4(fa[j], shared_address(&a_slots[s][wm + j * 16 + lane % 16][kk * 2 + lane / 16 * 16]));
        ldmatrix_x4_trans(fb[j], shared_address(&b_slots[s][kk + lane % 16][(wn + j * 16) * 2 + lane / 16 * 16]));
      }
      for (int x = 0; x < 2; x++)
        for (int y = 0; y < 4; y++) mma_m16n8k16_bf16(d[x][y], fa[x], fb[y / 2] + y % 2 * 2);
    }
  }

  for (int x = 0; x < 2; x++) {
    for (int y = 0; y < 4; y++) {
      float *out = c + (row + wm + x * 16 + lane / 4) * n + col + wn + y * 8 + lane % 4 * 2;
      *reinterpret_cast<float2 *>(out) = make_float2(d[x][y][0], d[x][y][1]);
      *reinterpret_cast<float2 *>(out + 8 * n) = make_float2(d[x][y][2], d[x][y][3]);
    }
  }
}
