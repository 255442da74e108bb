// A 3×3 convolution with padding 1 as an implicit matrix product: x is
// [n, h, w, 64], the filter [64 out, 3, 3, 64 in], out [n, h, w, 64], all f16
// with f32 sums.
//
// A CTA makes 128 output pixels, two consumer warpgroups 64 each. For each of
// the nine taps the producer loads the 128 input pixels under the tap in im2col
// mode: the coordinates name the filter's corner for the first pixel, the
// offsets the tap, and the copy walks on through rows and images by itself, with
// zeros for what lies in the padding or behind the last image. The tap's slice
// of the filter, 64 outputs by 64 inputs, comes by a tiled load.
//
// Tensor maps, all with the 128-byte swizzle: x in im2col mode, corners
// {-1, -1}, 64 channels, 128 pixels; the filter as [64, 576] and out as
// [pixels, 64], boxes [64, 64]. The grid is pixels / 128, rounded up.
#include "../hopper.cuh"

constexpr int stages = 4, taps = 9, consumer_warps = 8;
constexpr int tile_bytes = 64 * 64 * 2;  // 64 rows of 128 bytes

// Boxes begin at multiples of 1024 bytes, the period of the swizzle.
struct Slot {
  uint8_t pixels[2][tile_bytes], filter[tile_bytes];
};
struct Shared {
  Slot slots[stages];
  uint8_t out[2][tile_bytes];
  uint64_t full[stages], empty[stages];
};

// A column of pixels: c, w, h and n name the first, dw and dh the tap.
HOPPER_INLINE void tma_load_im2col(void *dst, const TensorMap *map, int c, int w, int h, int n, uint16_t dw, uint16_t dh,
                                   uint64_t *bar) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8};" ::"r"(shared_address(dst)),
      "l"(map), "r"(c), "r"(w), "r"(h), "r"(n), "r"(shared_address(bar)), "h"(dw), "h"(dh)
      : "memory");
}

HOPPER_INLINE void produce(Shared &m, const TensorMap *x, const TensorMap *filter, int h, int w) {
  const int first = blockIdx.x * 128, n = first / (h * w), row = first / w % h, col = first % w;
#pragma unroll 1
  for (int t = 0; t < taps; t++) {
    const int s = t % stages;
    mbarrier_wait(&m.empty[s], (t / stages + 1) % 2);
#if defined(BUG_BYTES)
    mbarrier_arrive_expect_tx(&m.full[s], sizeof m.slots[s].pixels);
#elif defined(BUG_CLIPPED_BYTES)  // as if a copy counted only the rows that exist, here of two images
    const int rows = min(128, 2 * h * w - first);
    mbarrier_arrive_expect_tx(&m.full[s], rows * 128 + sizeof m.slots[s].filter);
#else
    mbarrier_arrive_expect_tx(&m.full[s], sizeof(Slot));
#endif
    tma_load_im2col(m.slots[s].pixels, x, 0, col - 1, row - 1, n, t % 3, t / 3, &m.full[s]);
    tma_load_2d(m.slots[s].filter, filter, t * 64, 0, &m.full[s]);
  }
}

// This warp is done with a slot: all its lanes have come here, and one says so.
HOPPER_INLINE void release(uint64_t *empty) {
  __syncwarp();
  if (threadIdx.x % 32 == 0) mbarrier_arrive(empty);
}

HOPPER_INLINE void consume(Shared &m, const TensorMap *out) {
  const int group = threadIdx.x / 128 - 1, warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
  float d[32] = {};
  pin(d);
  // Unrolled, so that nothing moves the accumulators while a product is in flight.
#pragma unroll
  for (int t = 0; t < taps; t++) {
    const int s = t % stages;
    mbarrier_wait(&m.full[s], t / stages % 2);
    const uint64_t a = descriptor_k_major(m.slots[s].pixels[group]), b = descriptor_k_major(m.slots[s].filter);
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < 4; k++) wgmma_m64n64k16_f16(d, a + 2 * k, b + 2 * k);  // 16 channels, 32 bytes
    wgmma_commit_group();
#ifdef BUG_EARLY_RELEASE
    release(&m.empty[s]);
#else
    // The tap before is done: it has read its slot.
    wgmma_wait_group<1>();
    if (t > 0) release(&m.empty[(t - 1) % stages]);
#endif
  }
#ifdef BUG_WAIT_ONE
  wgmma_wait_group<1>();
#else
  wgmma_wait_group<0>();
#endif
  pin(d);

  const uint32_t base = shared_address(m.out[group]);
#pragma unroll
  for (int i = 0; i < 4; i++) {  // 16 columns: of the accumulators, two blocks
    const float *x = d + 8 * i;
    stmatrix_x4(base + swizzle_128B(16 * warp + lane % 16, 2 * i + lane / 16), cvt_f16x2(x[0], x[1]), cvt_f16x2(x[2], x[3]),
                cvt_f16x2(x[4], x[5]), cvt_f16x2(x[6], x[7]));
  }
#ifndef BUG_NO_PROXY_FENCE
  fence_proxy_async();
#endif
  named_barrier_sync(1 + group, 128);
  if (warp == 0 && elect_sync()) {
    tma_store_2d(out, 0, blockIdx.x * 128 + group * 64, m.out[group]);  // clips what is behind the last pixel
    bulk_commit_group();
    bulk_wait_group<0>();
  }
}

extern "C" __global__ __launch_bounds__(384, 1) void conv_im2col(const __grid_constant__ TensorMap x,
                                                                 const __grid_constant__ TensorMap filter,
                                                                 const __grid_constant__ TensorMap out, int h, int w) {
  extern __shared__ __align__(1024) uint8_t memory[];
  Shared &m = *reinterpret_cast<Shared *>(memory);
  if (threadIdx.x == 0) {
    for (int i = 0; i < stages; i++) {
      mbarrier_init(&m.full[i], 1);
      mbarrier_init(&m.empty[i], consumer_warps);
    }
    fence_mbarrier_init();
  }
  __syncthreads();
  if (threadIdx.x < 128) {
    setmaxnreg_dec<40>();
    if (threadIdx.x < 32 && elect_sync()) produce(m, &x, &filter, h, w);
  } else {
    setmaxnreg_inc<232>();
    consume(m, &out);
  }
}
