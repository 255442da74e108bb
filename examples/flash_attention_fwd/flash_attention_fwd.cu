// Attention, forward: out = softmax(q kᵀ / 8) v for each head, f16 with f32
// sums, head dimension 64.
//
// A CTA takes 128 rows of q of one head. One lane of warpgroup 0 is the
// producer: it loads q once, and then k and v, 64 keys at a time, into rings of
// two slots. Warpgroups 1 and 2 consume, 64 rows of q each. While the tensor
// cores multiply P of tile j-1 with V, the same warps make the softmax of tile
// j: the products for S and for O are in flight together, and wgmma.wait_group 1
// waits for S alone.
//
// A slot is released by one lane of each of the eight consumer warps, after
// that warp has waited for the wgmma that read it.
//
// q, k, v and out are 3D tensor maps [heads, rows, 64] with boxes [1, 64, 64]
// and the 128-byte swizzle. Rows are a multiple of 128, the grid is
// [rows / 128, heads], and tiles is rows / 64.
#include "../hopper.cuh"

constexpr int stages = 2, consumer_warps = 8;
constexpr int tile_bytes = 64 * 64 * 2;            // 64 rows of 128 bytes
constexpr float scale_log2 = 0.125f * 1.44269504f;  // 1/√64, and 2^x instead of e^x

// Boxes begin at multiples of 1024 bytes, the period of the swizzle.
struct Shared {
  uint8_t q[2][tile_bytes], k[stages][tile_bytes], v[stages][tile_bytes];
  uint64_t q_full, k_full[stages], k_empty[stages], v_full[stages], v_empty[stages];
};

HOPPER_INLINE void tma_load_3d(void *dst, const TensorMap *map, int x, int y, int z, uint64_t *bar) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(
          shared_address(dst)),
      "l"(map), "r"(x), "r"(y), "r"(z), "r"(shared_address(bar))
      : "memory");
}

HOPPER_INLINE void tma_store_3d(const TensorMap *map, int x, int y, int z, const void *src) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(map), "r"(x),
               "r"(y), "r"(z), "r"(shared_address(src))
               : "memory");
}

// A product is one asm statement from its fence to its commit, so that the
// compiler can put no move of a register between them.
#ifdef BUG_NO_WGMMA_FENCE
#define FENCE ""
#else
#define FENCE "  wgmma.fence.sync.aligned;\n"
#endif
#define COMMIT "  wgmma.commit_group.sync.aligned;\n"
#define MMA "  wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " HOPPER_D32_TEXT

// S = Q·Kᵀ. 16 elements of the head dimension are 32 bytes of a row.
HOPPER_INLINE void score(float (&s)[32], const void *q, const void *k) {
  asm volatile(
      "{\n"
      "  .reg .pred first, more;\n"
      "  .reg .b64 q1, q2, q3, k1, k2, k3;\n"
      "  setp.ne.b32 first, 0, 0;\n"
      "  setp.ne.b32 more, 1, 0;\n"
      "  add.s64 q1, %32, 2;\n"
      "  add.s64 q2, %32, 4;\n"
      "  add.s64 q3, %32, 6;\n"
      "  add.s64 k1, %33, 2;\n"
      "  add.s64 k2, %33, 4;\n"
      "  add.s64 k3, %33, 6;\n" FENCE
      MMA ", %32, %33, first, 1, 1, 0, 0;\n"
      MMA ", q1, k1, more, 1, 1, 0, 0;\n"
      MMA ", q2, k2, more, 1, 1, 0, 0;\n"
      MMA ", q3, k3, more, 1, 1, 0, 0;\n" COMMIT
      "}"
      : HOPPER_D32(s)
      : "l"(descriptor_k_major(q)), "l"(descriptor_k_major(k))
      : "memory");
}

// O += P·V, P in registers. V lies with the head dimension contiguous, which
// for this product is N: 16 keys are 16 rows, 2048 bytes.
HOPPER_INLINE void accumulate(float (&o)[32], uint32_t (&p)[16], const void *v) {
  asm volatile(
      "{\n"
      "  .reg .pred more;\n"
      "  .reg .b64 v1, v2, v3;\n"
      "  setp.ne.b32 more, 1, 0;\n"
      "  add.s64 v1, %48, 128;\n"
      "  add.s64 v2, %48, 256;\n"
      "  add.s64 v3, %48, 384;\n" FENCE
      MMA ", {%32, %33, %34, %35}, %48, more, 1, 1, 1;\n"
      MMA ", {%36, %37, %38, %39}, v1, more, 1, 1, 1;\n"
      MMA ", {%40, %41, %42, %43}, v2, more, 1, 1, 1;\n"
      MMA ", {%44, %45, %46, %47}, v3, more, 1, 1, 1;\n" COMMIT
      "}"
      : HOPPER_D32(o)
      : "r"(p[0]), "r"(p[1]), "r"(p[2]), "r"(p[3]), "r"(p[4]), "r"(p[5]), "r"(p[6]), "r"(p[7]), "r"(p[8]), "r"(p[9]),
        "r"(p[10]), "r"(p[11]), "r"(p[12]), "r"(p[13]), "r"(p[14]), "r"(p[15]), "l"(descriptor_128B(v, 16, 1024))
      : "memory");
}

HOPPER_INLINE float exp2_approx(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// A lane's two rows of the softmax so far, lane / 4 and lane / 4 + 8 of the
// warp's sixteen: the greatest score, and its share of the sum of powers. Four
// lanes share a row.
struct Softmax {
  float top[2] = {-INFINITY, -INFINITY}, sum[2] = {0, 0};

  // Makes 2^(scale·(S - top)) of the scores S, and brings top and sum up to
  // date; alpha is by what the sums so far shrink.
  HOPPER_INLINE void add(float (&s)[32], float (&alpha)[2]) {
#pragma unroll
    for (int r = 0; r < 2; r++) {
      float most = top[r], part = 0;
#pragma unroll
      for (int i = 2 * r; i < 32; i += 4) most = fmaxf(most, fmaxf(s[i], s[i + 1]));
      most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, 1));
      most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, 2));
      alpha[r] = exp2_approx((top[r] - most) * scale_log2);
#pragma unroll
      for (int i = 2 * r; i < 32; i += 4) {
        s[i] = exp2_approx(__fmaf_rn(s[i], scale_log2, -most * scale_log2));
        s[i + 1] = exp2_approx(__fmaf_rn(s[i + 1], scale_log2, -most * scale_log2));
        part += s[i] + s[i + 1];
      }
      top[r] = most;
      sum[r] = sum[r] * alpha[r] + part;
    }
  }

  // What the rows of O are divided by.
  HOPPER_INLINE float total(int r) const {
    float t = sum[r] + __shfl_xor_sync(0xffffffff, sum[r], 1);
    return t + __shfl_xor_sync(0xffffffff, t, 2);
  }
};

// P as fragments of A: 16 keys are two neighbouring 8-column blocks of the
// accumulators.
HOPPER_INLINE void pack(uint32_t (&p)[16], const float (&s)[32]) {
#pragma unroll
  for (int i = 0; i < 16; i++) {
#ifdef BUG_P_IN_FLIGHT  // ties the result to p's register
    asm volatile("cvt.rn.f16x2.f32 %0, %1, %2;" : "+r"(p[i]) : "f"(s[2 * i + 1]), "f"(s[2 * i]));
#else
    p[i] = cvt_f16x2(s[2 * i], s[2 * i + 1]);
#endif
  }
}

HOPPER_INLINE void produce(Shared &m, const TensorMap *q, const TensorMap *k, const TensorMap *v, int tiles) {
  const int row = blockIdx.x * 128, head = blockIdx.y;
  mbarrier_arrive_expect_tx(&m.q_full, 2 * tile_bytes);
  tma_load_3d(m.q[0], q, 0, row, head, &m.q_full);
  tma_load_3d(m.q[1], q, 0, row + 64, head, &m.q_full);
#pragma unroll 1
  for (int j = 0; j < tiles; j++) {
    const int s = j % stages, parity = j / stages % 2;
    mbarrier_wait(&m.k_empty[s], parity ^ 1);
    mbarrier_arrive_expect_tx(&m.k_full[s], tile_bytes);
    tma_load_3d(m.k[s], k, 0, j * 64, head, &m.k_full[s]);
    mbarrier_wait(&m.v_empty[s], parity ^ 1);
    mbarrier_arrive_expect_tx(&m.v_full[s], tile_bytes);
    tma_load_3d(m.v[s], v, 0, j * 64, head, &m.v_full[s]);
  }
}

// This warp is done with a slot: all its lanes have come here, and one says so.
HOPPER_INLINE void release(uint64_t *empty) {
  __syncwarp();
  if (threadIdx.x % 32 == 0) mbarrier_arrive(empty);
}

HOPPER_INLINE void consume(Shared &m, const TensorMap *out, int tiles) {
  const int group = threadIdx.x / 128 - 1, warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
  float s[32] = {}, o[32] = {}, alpha[2];
  uint32_t p[16] = {};
  Softmax softmax;

  mbarrier_wait(&m.q_full, 0);
  mbarrier_wait(&m.k_full[0], 0);
  score(s, m.q[group], m.k[0]);
  wgmma_wait_group<0>();
  pin(s);
  release(&m.k_empty[0]);
  softmax.add(s, alpha);
  pack(p, s);

#pragma unroll 1
  for (int j = 1; j < tiles; j++) {
    const int now = j % stages, last = (j - 1) % stages;
    mbarrier_wait(&m.k_full[now], j / stages % 2);
#ifdef BUG_PARITY
    mbarrier_wait(&m.v_full[last], 0);
#else
    mbarrier_wait(&m.v_full[last], (j - 1) / stages % 2);
#endif
    score(s, m.q[group], m.k[now]);
    accumulate(o, p, m.v[last]);
#ifdef BUG_EARLY_RELEASE
    release(&m.v_empty[last]);
#endif
    wgmma_wait_group<1>();
    pin(s);
    release(&m.k_empty[now]);
    softmax.add(s, alpha);
#ifdef BUG_P_IN_FLIGHT
    pack(p, s);
#endif
    wgmma_wait_group<0>();
    pin(o);
    pin(p);
#ifndef BUG_EARLY_RELEASE
    release(&m.v_empty[last]);
#endif
#pragma unroll
    for (int i = 0; i < 32; i++) o[i] *= alpha[i / 2 % 2];
#ifndef BUG_P_IN_FLIGHT
    pack(p, s);
#endif
  }

  mbarrier_wait(&m.v_full[(tiles - 1) % stages], (tiles - 1) / stages % 2);
  accumulate(o, p, m.v[(tiles - 1) % stages]);
#ifdef BUG_WAIT_ONE
  wgmma_wait_group<1>();
#else
  wgmma_wait_group<0>();
#endif
  pin(o);
  const float scale[2] = {1 / softmax.total(0), 1 / softmax.total(1)};

  // This warpgroup's part of q becomes the place of its part of out, once no
  // warp's wgmma reads it any more.
  named_barrier_sync(1 + group, 128);
  const uint32_t base = shared_address(m.q[group]);
#pragma unroll
  for (int i = 0; i < 4; i++) {  // 16 columns: of the accumulators, two blocks
    const float *x = o + 8 * i;
    stmatrix_x4(base + swizzle_128B(16 * warp + lane % 16, 2 * i + lane / 16), cvt_f16x2(x[0] * scale[0], x[1] * scale[0]),
                cvt_f16x2(x[2] * scale[1], x[3] * scale[1]), cvt_f16x2(x[4] * scale[0], x[5] * scale[0]),
                cvt_f16x2(x[6] * scale[1], x[7] * scale[1]));
  }
#ifndef BUG_NO_PROXY_FENCE
  fence_proxy_async();
#endif
  named_barrier_sync(1 + group, 128);
  if (warp == 0 && elect_sync()) {
    tma_store_3d(out, 0, blockIdx.x * 128 + group * 64, blockIdx.y, m.q[group]);
    bulk_commit_group();
    bulk_wait_group<0>();
  }
}

extern "C" __global__ __launch_bounds__(384, 1) void flash_attention_fwd(
    const __grid_constant__ TensorMap q, const __grid_constant__ TensorMap k, const __grid_constant__ TensorMap v,
    const __grid_constant__ TensorMap out, int tiles) {
  extern __shared__ __align__(1024) uint8_t memory[];
  Shared &m = *reinterpret_cast<Shared *>(memory);
  if (threadIdx.x == 0) {
    mbarrier_init(&m.q_full, 1);
    for (int i = 0; i < stages; i++) {
      mbarrier_init(&m.k_full[i], 1);
      mbarrier_init(&m.v_full[i], 1);
      mbarrier_init(&m.k_empty[i], consumer_warps);
      mbarrier_init(&m.v_empty[i], consumer_warps);
    }
    fence_mbarrier_init();
  }
  __syncthreads();
  if (threadIdx.x < 128) {
    setmaxnreg_dec<40>();
    if (threadIdx.x < 32 && elect_sync()) produce(m, &q, &k, &v, tiles);
  } else {
    setmaxnreg_inc<232>();
    consume(m, &out, tiles);
  }
}
