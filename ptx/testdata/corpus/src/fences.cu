// Every fence, and the mbarrier instructions, each once.
#include <cstdint>
__device__ uint32_t at(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

extern "C" __global__ void fences(int *p) {
  p[0] = 1; asm volatile("fence.sc.cta;" ::: "memory");
  p[1] = 1; asm volatile("fence.acq_rel.cluster;" ::: "memory");
  p[2] = 1; asm volatile("fence.sc.gpu;" ::: "memory");
  p[3] = 1; asm volatile("fence.acq_rel.sys;" ::: "memory");
  p[4] = 1; asm volatile("fence.acquire.gpu;" ::: "memory");
  p[5] = 1; asm volatile("fence.release.cta;" ::: "memory");
  p[6] = 1; asm volatile("fence.gpu;" ::: "memory");
  p[7] = 1; asm volatile("membar.cta; membar.gl; membar.sys;" ::: "memory");
  p[8] = 1; asm volatile("fence.proxy.alias; fence.proxy.async; fence.proxy.async.global;" ::: "memory");
  asm volatile("fence.proxy.async.shared::cta; fence.proxy.async.shared::cluster;" ::: "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
  asm volatile("fence.acquire.sync_restrict::shared::cluster.cluster; fence.release.sync_restrict::shared::cta.cluster;" ::: "memory");
  asm volatile("fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster; fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;" ::: "memory");
}

extern "C" __global__ void words(uint64_t *out) {
  __shared__ uint64_t bar;
  uint32_t b = at(&bar), n, ok;
  uint64_t t;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 40;" ::"r"(b) : "memory");
    asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(t) : "r"(b) : "memory");
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(n) : "l"(t));
    out[0] = t; out[1] = n;
    asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 %0, [%1], 2;" : "=l"(t) : "r"(b) : "memory");
    asm volatile("mbarrier.arrive.noComplete.shared::cta.b64 %0, [%1], 3;" : "=l"(t) : "r"(b) : "memory");
    asm volatile("mbarrier.arrive.relaxed.cta.shared::cta.b64 %0, [%1];" : "=l"(t) : "r"(b) : "memory");
    asm volatile("mbarrier.arrive_drop.shared::cta.b64 %0, [%1];" : "=l"(t) : "r"(b) : "memory");
    asm volatile("mbarrier.arrive_drop.noComplete.shared::cta.b64 %0, [%1], 2;" : "=l"(t) : "r"(b) : "memory");
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 64;" ::"r"(b) : "memory");
    asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 32;" ::"r"(b) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 %0, [%1], 16;" : "=l"(t) : "r"(b) : "memory");
    asm volatile("mbarrier.arrive_drop.expect_tx.shared::cta.b64 %0, [%1], 16;" : "=l"(t) : "r"(b) : "memory");
    asm volatile("{ .reg .pred p; mbarrier.test_wait.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(ok) : "r"(b), "l"(t) : "memory");
    out[2] = ok;
    asm volatile("{ .reg .pred p; mbarrier.try_wait.relaxed.cta.shared::cta.b64 p, [%1], %2, 10; selp.u32 %0, 1, 0, p; }" : "=r"(ok) : "r"(b), "l"(t) : "memory");
    asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(b) : "memory");
    out[3] = ok;
  }
}
