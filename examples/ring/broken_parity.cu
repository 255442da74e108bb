// BROKEN on purpose. The consumers never toggle the parity they wait for: on
// every second use of a slot the wait passes at once, on the phase before.
// Compare ring.cu.
#include <cstdint>
#include <cuda/ptx>

namespace ptx = cuda::ptx;

constexpr int stages = 4;
constexpr int tile = 256;
constexpr int consumers = 4;

__device__ bool elect_one() {
  uint32_t elected;
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(elected));
  return elected;
}

extern "C" __global__ __launch_bounds__(160) void ring(const float *in, float *out, int tiles) {
  __shared__ alignas(128) float slots[stages][tile];
  __shared__ uint64_t full[stages], empty[stages];

  const int warp = threadIdx.x / 32;
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; s++) {
      ptx::mbarrier_init(&full[s], 1);
      ptx::mbarrier_init(&empty[s], consumers);
    }
  }
  __syncthreads();

  if (warp == 0) {
    if (elect_one()) {
      for (int k = 0; k < tiles; k++) {
        const int s = k % stages;
        const uint32_t parity = (k / stages) & 1;
        while (!ptx::mbarrier_try_wait_parity(&empty[s], parity ^ 1)) {}
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                       &full[s], sizeof(slots[s]));
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global,
                           slots[s], in + k * tile, sizeof(slots[s]), &full[s]);
      }
    }
  } else {
    const int t = threadIdx.x - 32;
    float sum = 0;
    for (int k = 0; k < tiles; k++) {
      const int s = k % stages;
      const uint32_t parity = 0;
      while (!ptx::mbarrier_try_wait_parity(&full[s], parity)) {}
      sum += slots[s][t] + slots[s][t + 128];
      __syncwarp();
      if (threadIdx.x % 32 == 0) ptx::mbarrier_arrive(&empty[s]);
    }
    out[t] = sum;
  }
}
