// The thread that arrives is the thread that waits: thread 0 loads each tile by
// a bulk copy, arrives with the bytes it expects, and waits by the token of its
// own arrival. The CTA barrier then hands the tile to the others.
#include <cstdint>
#include <cuda/ptx>

namespace ptx = cuda::ptx;

constexpr int threads = 128;

extern "C" __global__ __launch_bounds__(threads) void same_thread(const float *in, float *out, int tiles) {
  __shared__ alignas(128) float buf[threads];
  __shared__ uint64_t bar;

  const int t = threadIdx.x;
  if (t == 0) ptx::mbarrier_init(&bar, 1);
  __syncthreads();

  for (int k = 0; k < tiles; k++) {
    const int at = (blockIdx.x * tiles + k) * threads;
    if (t == 0) {
      ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, buf, in + at, sizeof(buf), &bar);
      const uint64_t token = ptx::mbarrier_arrive_expect_tx(
          ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, sizeof(buf));
      while (!ptx::mbarrier_try_wait(&bar, token)) {}
    }
    __syncthreads();
    out[at + t] = buf[threads - 1 - t] * 2;
    __syncthreads();
  }
}
