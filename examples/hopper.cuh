// Hopper's asynchronous instructions as C++ functions: one instruction each,
// under the name that PTX gives it, with every default of the ISA written out.
// The GEMM examples are built on these and on nothing else.
#pragma once
#include <cstdint>

#define HOPPER_INLINE __device__ __forceinline__

// What cuTensorMapEncodeTiled fills in: 128 bytes that nobody looks into.
struct alignas(64) TensorMap {
  uint8_t bytes[128];
};

// Addresses -------------------------------------------------------------

// The 32-bit address in the window of shared memory.
HOPPER_INLINE uint32_t shared_address(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

// What lies at the same offset in the shared memory of another CTA of the cluster.
HOPPER_INLINE uint32_t mapa(const void *p, uint32_t cta) {
  uint32_t at;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(shared_address(p)), "r"(cta));
  return at;
}

HOPPER_INLINE uint32_t cluster_ctarank() {
  uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

// mbarrier --------------------------------------------------------------

HOPPER_INLINE void mbarrier_init(uint64_t *bar, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(bar)), "r"(count) : "memory");
}

// Makes prior inits visible to the cluster, together with a cluster barrier.
HOPPER_INLINE void fence_mbarrier_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

HOPPER_INLINE void mbarrier_arrive(uint64_t *bar) {
  asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(shared_address(bar)) : "memory");
}

HOPPER_INLINE void mbarrier_arrive_remote(uint64_t *bar, uint32_t cta) {
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(mapa(bar, cta)) : "memory");
}

HOPPER_INLINE void mbarrier_arrive_expect_tx(uint64_t *bar, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(bar)),
               "r"(bytes)
               : "memory");
}

// Waits for the end of the phase of that parity: 0 for the first, 1 for the
// second, and so on. On a new barrier, parity 1 names the phase before the
// first and passes at once.
HOPPER_INLINE void mbarrier_wait(uint64_t *bar, uint32_t parity) {
  uint32_t done;
  do {
    asm volatile(
        "{\n"
        "  .reg .pred p;\n"
        "  mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%1], %2;\n"
        "  selp.b32 %0, 1, 0, p;\n"
        "}"
        : "=r"(done)
        : "r"(shared_address(bar)), "r"(parity)
        : "memory");
  } while (!done);
}

// The same for a phase that other CTAs of the cluster help to complete.
HOPPER_INLINE void mbarrier_wait_cluster(uint64_t *bar, uint32_t parity) {
  uint32_t done;
  do {
    asm volatile(
        "{\n"
        "  .reg .pred p;\n"
        "  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n"
        "  selp.b32 %0, 1, 0, p;\n"
        "}"
        : "=r"(done)
        : "r"(shared_address(bar)), "r"(parity)
        : "memory");
  } while (!done);
}

// Barriers, fences, roles -------------------------------------------------

// All threads of the cluster that have not exited. Not .aligned, so that lanes
// may come to it from different branches.
HOPPER_INLINE void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}

// A named barrier of this CTA; 0 is __syncthreads's.
HOPPER_INLINE void named_barrier_sync(uint32_t name, uint32_t threads) {
  asm volatile("barrier.cta.sync.aligned %0, %1;" ::"r"(name), "r"(threads) : "memory");
}

// Between ordinary and asynchronous accesses to this CTA's shared memory.
HOPPER_INLINE void fence_proxy_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// True in one lane of the warp; all of them must be here.
HOPPER_INLINE bool elect_sync() {
  uint32_t elected;
  asm volatile(
      "{\n"
      "  .reg .pred p;\n"
      "  elect.sync _|p, 0xffffffff;\n"
      "  selp.b32 %0, 1, 0, p;\n"
      "}"
      : "=r"(elected));
  return elected;
}

// Registers a thread of this warpgroup, from here on.
template <uint32_t count>
HOPPER_INLINE void setmaxnreg_inc() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count));
}
template <uint32_t count>
HOPPER_INLINE void setmaxnreg_dec() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count));
}

// Tensor copies -----------------------------------------------------------

// A box from global to this CTA's shared memory; its bytes land on bar. x is
// the innermost coordinate.
HOPPER_INLINE void tma_load_2d(void *dst, const TensorMap *map, int x, int y, uint64_t *bar) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
          shared_address(dst)),
      "l"(map), "r"(x), "r"(y), "r"(shared_address(bar))
      : "memory");
}

// The same box to every CTA whose bit is set in ctas, each time at the offset
// of dst, and its bytes on the barrier at the offset of bar there.
HOPPER_INLINE void tma_load_2d_multicast(void *dst, const TensorMap *map, int x, int y, uint64_t *bar, uint16_t ctas) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared_address(dst)),
      "l"(map), "r"(x), "r"(y), "r"(shared_address(bar)), "h"(ctas)
      : "memory");
}

// A box from shared to global memory, in the thread's current bulk group.
HOPPER_INLINE void tma_store_2d(const TensorMap *map, int x, int y, const void *src) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map), "r"(x),
               "r"(y), "r"(shared_address(src))
               : "memory");
}

HOPPER_INLINE void bulk_commit_group() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

// Until at most n of this thread's bulk groups have not read their sources.
template <int n>
HOPPER_INLINE void bulk_wait_group_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(n) : "memory");
}

// Until at most n of this thread's bulk groups are not complete.
template <int n>
HOPPER_INLINE void bulk_wait_group() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(n) : "memory");
}

// A tensor map that the device changes ---------------------------------------

// Fields of a map in shared memory. Dimension 0 is the innermost; stride 0 is
// that of dimension 1, in bytes.
HOPPER_INLINE void tensormap_replace_address(TensorMap *map, uint64_t address) {
  asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(shared_address(map)),
               "l"(address)
               : "memory");
}
template <int dimension>
HOPPER_INLINE void tensormap_replace_dim(TensorMap *map, uint32_t size) {
  asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], %1, %2;" ::"r"(shared_address(map)),
               "n"(dimension), "r"(size)
               : "memory");
}
template <int dimension>
HOPPER_INLINE void tensormap_replace_stride(TensorMap *map, uint64_t bytes) {
  asm volatile("tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%0], %1, %2;" ::"r"(shared_address(map)),
               "n"(dimension), "l"(bytes)
               : "memory");
}

// Copies a map from shared to global memory and releases it to the tensormap
// proxy. The whole warp executes it.
HOPPER_INLINE void tensormap_cp_fenceproxy(TensorMap *global, const TensorMap *shared) {
  asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;" ::"l"(
                   __cvta_generic_to_global(global)),
               "r"(shared_address(shared))
               : "memory");
}

// Before the first copy by a thread through a map that was changed.
HOPPER_INLINE void fence_proxy_tensormap_acquire(const TensorMap *map) {
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
}

// wgmma ---------------------------------------------------------------------

// A matrix in shared memory, swizzled by 128 bytes. Its atom is 8 rows of 128
// bytes, 1,024-byte aligned. `leading` is the distance of atoms along the
// contiguous dimension where the instruction needs several (MN-major operands),
// `stride` the one across it.
HOPPER_INLINE uint64_t descriptor_128B(const void *p, uint32_t leading, uint32_t stride) {
  uint64_t address = (shared_address(p) & 0x3ffff) >> 4;
  return address | uint64_t(leading >> 4) << 16 | uint64_t(stride >> 4) << 32 | uint64_t(1) << 62;
}

// K-major: a row of the atom is 128 bytes along K. Next 8 rows: 1,024 bytes on.
HOPPER_INLINE uint64_t descriptor_k_major(const void *p) { return descriptor_128B(p, 16, 1024); }

HOPPER_INLINE void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
HOPPER_INLINE void wgmma_commit_group() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

// Until at most n of this warpgroup's wgmma groups are pending.
template <int n>
HOPPER_INLINE void wgmma_wait_group() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(n) : "memory");
}

// No instruction: it keeps the compiler from moving accesses of registers that
// wgmma uses to the other side of a fence or a wait, which name no registers.
template <int n>
HOPPER_INLINE void pin(float (&r)[n]) {
#pragma unroll
  for (int i = 0; i < n; i++) asm volatile("" : "+f"(r[i])::"memory");
}
template <int n>
HOPPER_INLINE void pin(uint32_t (&r)[n]) {
#pragma unroll
  for (int i = 0; i < n; i++) asm volatile("" : "+r"(r[i])::"memory");
}

// Accumulators as operands: the list in PTX, and the one in C++.
#define HOPPER_D32_TEXT                                                  \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}"
#define HOPPER_D64_TEXT                                                  \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}"
#define HOPPER_D8(d, i) \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define HOPPER_D32(d) HOPPER_D8(d, 0), HOPPER_D8(d, 8), HOPPER_D8(d, 16), HOPPER_D8(d, 24)
#define HOPPER_D64(d) HOPPER_D32(d), HOPPER_D8(d, 32), HOPPER_D8(d, 40), HOPPER_D8(d, 48), HOPPER_D8(d, 56)

// D += A·B for f16, 64×128×16, both operands K-major in shared memory.
HOPPER_INLINE void wgmma_m64n128k16_f16(float (&d)[64], uint64_t a, uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 " HOPPER_D64_TEXT ", %64, %65, 1, 1, 1, 0, 0;"
               : HOPPER_D64(d)
               : "l"(a), "l"(b)
               : "memory");
}

// D += A·B for f16, 64×64×16, both operands K-major in shared memory.
HOPPER_INLINE void wgmma_m64n64k16_f16(float (&d)[32], uint64_t a, uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " HOPPER_D32_TEXT ", %32, %33, 1, 1, 1, 0, 0;"
               : HOPPER_D32(d)
               : "l"(a), "l"(b)
               : "memory");
}

// D += A·B for bf16, 64×128×16: A's fragment in registers, B MN-major in shared memory.
HOPPER_INLINE void wgmma_m64n128k16_bf16_rs(float (&d)[64], const uint32_t *a, uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 " HOPPER_D64_TEXT
               ", {%64, %65, %66, %67}, %68, 1, 1, 1, 1;"
               : HOPPER_D64(d)
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b)
               : "memory");
}

// D = A·B + (accumulate ? D : 0) for e4m3, 64×128×32, both operands K-major.
HOPPER_INLINE void wgmma_m64n128k32_e4m3(float (&d)[64], uint64_t a, uint64_t b, bool accumulate) {
  asm volatile(
      "{\n"
      "  .reg .pred p;\n"
      "  setp.ne.b32 p, %66, 0;\n"
      "  wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3 " HOPPER_D64_TEXT ", %64, %65, p, 1, 1;\n"
      "}"
      : HOPPER_D64(d)
      : "l"(a), "l"(b), "r"(int(accumulate))
      : "memory");
}

// Matrix fragments of a warp --------------------------------------------------

// Four 8×8 matrices of 16-bit elements; lane l gives the address of a row: row
// l % 8 of matrix l / 8.
HOPPER_INLINE void ldmatrix_x4(uint32_t *r, uint32_t at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(at)
               : "memory");
}
HOPPER_INLINE void ldmatrix_x4_trans(uint32_t *r, uint32_t at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(at)
               : "memory");
}
HOPPER_INLINE void stmatrix_x4(uint32_t at, uint32_t r0, uint32_t r1, uint32_t r2, uint32_t r3) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(r0), "r"(r1), "r"(r2),
               "r"(r3)
               : "memory");
}

// Two f32 to a pair of f16; the first goes to the low half, where memory has it first.
HOPPER_INLINE uint32_t cvt_f16x2(float lo, float hi) {
  uint32_t pair;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(hi), "f"(lo));
  return pair;
}

// Where a 16-byte chunk of a 128-byte row lies under the 128B swizzle, from the
// start of a matrix that is 1,024-byte aligned.
HOPPER_INLINE uint32_t swizzle_128B(uint32_t row, uint32_t chunk) { return row * 128 + ((chunk ^ row % 8) * 16); }
