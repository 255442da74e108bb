// BROKEN on purpose. No fence.proxy.async between the ordinary stores to the
// buffer and the bulk store that reads it. Compare bulk_store.cu.
#include <cstdint>
#include <cuda/ptx>

namespace ptx = cuda::ptx;

constexpr int threads = 128;

extern "C" __global__ __launch_bounds__(threads) void bulk_store(const float *in, float *out, int tiles) {
  __shared__ alignas(128) float buf[2][threads];

  const int t = threadIdx.x;
  for (int k = 0; k < tiles; k++) {
    const int at = (blockIdx.x * tiles + k) * threads;
    if (t == 0) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<1>{});
    __syncthreads();
    buf[k & 1][t] = in[at + t] * 2 + 1;
    __syncthreads();
    if (t == 0) {
      ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + at, buf[k & 1], sizeof(buf[0]));
      ptx::cp_async_bulk_commit_group();
    }
  }
  if (t == 0) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
}
