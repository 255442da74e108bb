// BROKEN on purpose. A CTA barrier in place of the first cluster barrier: the
// arrival on the peer's mbarrier may come before the peer runs, or before it
// initialized the mbarrier. Compare cluster_exchange.cu.
#include <cstdint>

constexpr int threads = 128;

__device__ uint32_t shared_address(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

__device__ uint32_t peer_address(const void *p, uint32_t rank) {
  uint32_t a;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(a) : "r"(shared_address(p)), "r"(rank));
  return a;
}

__device__ uint32_t cluster_rank() {
  uint32_t r;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
  return r;
}

__device__ void cluster_barrier() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

extern "C" __global__ __cluster_dims__(2) __launch_bounds__(threads)
void cluster_exchange(const float *in, float *out) {
  __shared__ float mine[threads];
  __shared__ uint64_t told;

  const int t = threadIdx.x;
  const int at = blockIdx.x * threads;
  const uint32_t peer = cluster_rank() ^ 1;

  if (t == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&told)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();

  mine[t] = in[at + t] + 1;
  __syncthreads();
  if (t == 0)
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];"
                 ::"r"(peer_address(&told, peer)) : "memory");

  uint32_t done = 0;
  while (!done)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(shared_address(&told)) : "memory");

  float v;
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(v) : "r"(peer_address(&mine[threads - 1 - t], peer)) : "memory");
  out[at + t] = v * 2;
  cluster_barrier();
}
