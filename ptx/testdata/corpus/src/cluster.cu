// Clusters: distributed shared memory, remote arrivals, st.async, multicast.
#include <cstdint>
#include <cuda/ptx>

namespace ptx = cuda::ptx;

extern "C" __global__ void __cluster_dims__(2, 1, 1) push(const int4 *in, int4 *out) {
  __shared__ alignas(16) int4 inbox[128];
  __shared__ uint64_t bar;
  unsigned rank = ptx::get_sreg_cluster_ctarank(), peer = rank ^ 1;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&bar, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, sizeof(inbox));
  }
  ptx::barrier_cluster_arrive();
  ptx::barrier_cluster_wait();
  int4 v = in[blockIdx.x * 128 + threadIdx.x];
  uint32_t slot, there, here = (uint32_t)__cvta_generic_to_shared(&inbox[127 - threadIdx.x]);
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(slot) : "r"(here), "r"(peer));
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"((uint32_t)__cvta_generic_to_shared(&bar)), "r"(peer));
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.s32 [%0], {%1, %2, %3, %4}, [%5];"
               ::"r"(slot), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w), "r"(there) : "memory");
  while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &bar, 0)) {}
  out[blockIdx.x * 128 + threadIdx.x] = inbox[threadIdx.x];
  ptx::barrier_cluster_arrive(ptx::sem_release);
  ptx::barrier_cluster_wait(ptx::sem_acquire);
}

extern "C" __global__ void __cluster_dims__(4, 1, 1) multicast(const float *in, float *out) {
  __shared__ alignas(128) float tile[4][256];
  __shared__ uint64_t bar;
  unsigned rank = ptx::get_sreg_cluster_ctarank();
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&bar, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, sizeof(tile));
  }
  asm volatile("barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
  if (threadIdx.x == 0)
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile[rank], in + rank * 256, sizeof(tile[0]), &bar, (uint16_t)15);
  while (!ptx::mbarrier_try_wait_parity(&bar, 0)) {}
  float s = 0;
  for (int r = 0; r < 4; r++) s += tile[r][threadIdx.x];
  out[blockIdx.x * 256 + threadIdx.x] = s;
  ptx::barrier_cluster_arrive();
  ptx::barrier_cluster_wait();
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) remote_ops(int *out) {
  __shared__ int acc[8];
  __shared__ uint64_t bar, credit;
  unsigned rank, size, id, x;
  asm("mov.u32 %0, %%cluster_ctarank; mov.u32 %1, %%cluster_nctarank; mov.u32 %2, %%clusterid.x; mov.u32 %3, %%cluster_ctaid.x;" : "=r"(rank), "=r"(size), "=r"(id), "=r"(x));
  if (threadIdx.x < 8) acc[threadIdx.x] = 0;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 2; mbarrier.init.shared::cta.b64 [%1], 1; fence.mbarrier_init.release.cluster;"
                 ::"r"((uint32_t)__cvta_generic_to_shared(&bar)), "r"((uint32_t)__cvta_generic_to_shared(&credit)) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 4;" ::"r"((uint32_t)__cvta_generic_to_shared(&credit)) : "memory");
  }
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
  if (threadIdx.x < size) {
    uint32_t b, a, c;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(b) : "r"((uint32_t)__cvta_generic_to_shared(&bar)), "r"(threadIdx.x));
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(a) : "r"((uint32_t)__cvta_generic_to_shared(&acc[rank])), "r"(threadIdx.x));
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(c) : "r"((uint32_t)__cvta_generic_to_shared(&credit)), "r"(threadIdx.x));
    asm volatile("red.relaxed.cluster.shared::cluster.add.s32 [%0], 5;" ::"r"(a) : "memory");
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(b) : "memory");
    if (threadIdx.x != rank)
      asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.s32 [%0], %1, [%2];" ::"r"(a + 8), "r"(7), "r"(c) : "memory");
  }
  asm volatile("{ .reg .pred p; w: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], 0, 1000; @!p bra w; }" ::"r"((uint32_t)__cvta_generic_to_shared(&bar)) : "memory");
  asm volatile("{ .reg .pred p; w: mbarrier.test_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], 0; @!p bra w; }" ::"r"((uint32_t)__cvta_generic_to_shared(&credit)) : "memory");
  uint32_t owner;
  asm("{ .reg .u64 g; .reg .b32 q; mapa.u64 g, %1, 1; getctarank.u64 q, g; mov.b32 %0, q; }" : "=r"(owner) : "l"(&acc[0]));
  if (threadIdx.x < 8) out[blockIdx.x * 8 + threadIdx.x] = acc[threadIdx.x] + owner + id + x;
  asm volatile("barrier.cluster.arrive.release; barrier.cluster.wait.acquire;" ::: "memory");
}
