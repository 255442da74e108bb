// Ampere's asynchronous copies, prefetches, cache policies.
#include <cuda_pipeline.h>
#include <cuda/annotated_ptr>
#include <cstdint>

extern "C" __global__ void primitives(const float4 *in, float4 *out, int tiles) {
  __shared__ float4 buf[2][128];
  __pipeline_memcpy_async(&buf[0][threadIdx.x], &in[threadIdx.x], 16);
  __pipeline_commit();
  for (int k = 0; k < tiles; k++) {
    if (k + 1 < tiles) __pipeline_memcpy_async(&buf[(k + 1) & 1][threadIdx.x], &in[(k + 1) * 128 + threadIdx.x], 16, threadIdx.x == 0 ? 8 : 0);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    out[k * 128 + threadIdx.x] = buf[k & 1][127 - threadIdx.x];
    __syncthreads();
  }
}

extern "C" __global__ void hints(const float *in, float *out) {
  __shared__ float buf[3][128];
  uint64_t policy;
  asm volatile("createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %0, 0.5;" : "=l"(policy));
  uint32_t a = (uint32_t)__cvta_generic_to_shared(&buf[0][threadIdx.x]);
  asm volatile("cp.async.ca.shared.global.L2::cache_hint [%0], [%1], 4, %2;" ::"r"(a), "l"(in + threadIdx.x), "l"(policy) : "memory");
  asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], 4, %2;" ::"r"(a + 512), "l"(in + threadIdx.x), "r"(threadIdx.x & 1 ? 4 : 0) : "memory");
  asm volatile("{ .reg .pred p; setp.eq.u32 p, %2, 3; cp.async.ca.shared.global [%0], [%1], 4, p; }" ::"r"(a + 1024), "l"(in + threadIdx.x), "r"(threadIdx.x) : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  asm volatile("prefetch.global.L2 [%0]; prefetchu.L1 [%0]; applypriority.global.L2::evict_normal [%1], 128; discard.global.L2 [%1], 128;" ::"l"(in), "l"(out) : "memory");
  float v;
  asm volatile("ld.global.L1::no_allocate.L2::cache_hint.L2::256B.f32 %0, [%1], %2;" : "=f"(v) : "l"(in + 1), "l"(policy));
  asm volatile("st.global.L1::evict_last.f32 [%0], %1;" ::"l"(out + threadIdx.x), "f"(v + buf[0][threadIdx.x] + buf[1][threadIdx.x] + buf[2][threadIdx.x]) : "memory");
}

extern "C" __global__ void annotated(cuda::annotated_ptr<const float, cuda::access_property::streaming> in,
                                     cuda::annotated_ptr<float, cuda::access_property::persisting> out) {
  out[threadIdx.x] = in[threadIdx.x] + 1;
}
