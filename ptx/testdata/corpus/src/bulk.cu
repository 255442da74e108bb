// Bulk copies and tensor maps: every direction, reductions, map updates.
#include <cstdint>
#include <cuda.h>
#include <cuda/ptx>

namespace ptx = cuda::ptx;
typedef struct alignas(64) { uint64_t opaque[16]; } Map;

__device__ uint32_t at(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

extern "C" __global__ void round_trip(const float *in, float *out, float *sum) {
  __shared__ alignas(128) float a[512], b[512];
  __shared__ uint64_t bar;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&bar, 1);
    asm volatile("fence.proxy.async;" ::: "memory");
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], 2048;" ::"l"(in));
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, a, in, sizeof a, &bar);
    ptx::mbarrier_expect_tx(ptx::sem_relaxed, ptx::scope_cta, ptx::space_shared, &bar, sizeof a);
    ptx::mbarrier_arrive(&bar);
  }
  __syncthreads();
  while (!ptx::mbarrier_try_wait_parity(&bar, 0)) {}
  for (int i = threadIdx.x; i < 512; i += blockDim.x) b[i] = a[i] + 1;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out), "r"(at(b)), "r"(2048) : "memory");
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], 2048;" ::"l"(sum), "r"(at(b)) : "memory");
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 1; cp.async.bulk.wait_group 0;" ::: "memory");
    asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(at(&bar)) : "memory");
  }
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) to_peer(int *out) {
  __shared__ alignas(16) int a[64], b[64], c[64];
  __shared__ uint64_t bar;
  uint32_t rank, peer_b, peer_c, peer_bar;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  a[threadIdx.x & 63] = threadIdx.x; c[threadIdx.x & 63] = 1;
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1; fence.mbarrier_init.release.cluster; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 512;" ::"r"(at(&bar)) : "memory");
  asm volatile("fence.proxy.async.shared::cluster; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
  if (threadIdx.x == 0) {
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(peer_b) : "r"(at(b)), "r"(rank ^ 1));
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(peer_c) : "r"(at(c)), "r"(rank ^ 1));
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(peer_bar) : "r"(at(&bar)), "r"(rank ^ 1));
    asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" ::"r"(peer_b), "r"(at(a)), "r"(peer_bar) : "memory");
    asm volatile("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.s32 [%0], [%1], 256, [%2];" ::"r"(peer_c), "r"(at(a)), "r"(peer_bar) : "memory");
  }
  asm volatile("{ .reg .pred p; w: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @!p bra w; }" ::"r"(at(&bar)) : "memory");
  out[blockIdx.x * 64 + (threadIdx.x & 63)] = b[threadIdx.x & 63] + c[threadIdx.x & 63];
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}

extern "C" __global__ void tensors(const __grid_constant__ Map one, const __grid_constant__ Map two, const __grid_constant__ Map three, const __grid_constant__ Map dst) {
  __shared__ alignas(1024) unsigned char a[3][8192];
  __shared__ uint64_t bar;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&bar, 1);
    asm volatile("prefetch.tensormap [%0];" ::"l"(&one) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(at(&bar)), "r"(3 * 8192) : "memory");
    asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2}], [%3];" ::"r"(at(a[0])), "l"(&one), "r"(0), "r"(at(&bar)) : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(at(a[1])), "l"(&two), "r"(0), "r"(blockIdx.x * 64), "r"(at(&bar)), "l"(0x14F0000000000000ull) : "memory");
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8};" ::"r"(at(a[2])), "l"(&three), "r"(0), "r"(1), "r"(2), "r"(3), "r"(at(&bar)), "h"((short)1), "h"((short)2) : "memory");
  }
  __syncthreads();
  while (!ptx::mbarrier_try_wait_parity(&bar, 0)) {}
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&dst), "r"(0), "r"(0), "r"(at(a[1])) : "memory");
    asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&dst), "r"(0), "r"(64), "r"(at(a[1])) : "memory");
    asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];" ::"l"(&two), "r"(0), "r"(64) : "memory");
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;" ::: "memory");
  }
}

extern "C" __global__ void edit_map(Map *map, const float *base) {
  __shared__ alignas(128) Map scratch;
  if (threadIdx.x < 16) scratch.opaque[threadIdx.x] = map->opaque[threadIdx.x];
  __syncwarp();
  if (threadIdx.x == 0) {
    asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(at(&scratch)), "l"(base) : "memory");
    asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 1, %1;" ::"r"(at(&scratch)), "r"(128) : "memory");
    asm volatile("tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%0], 3;" ::"r"(at(&scratch)) : "memory");
  }
  __syncwarp();
  if (threadIdx.x < 32)
    asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;" ::"l"(map), "r"(at(&scratch)) : "memory");
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
}
