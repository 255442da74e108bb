// BROKEN on purpose. Nobody waits for 'empty': the producers' arrivals on 'full'
// may lap the consumers' sync, and the buffer is overwritten while it is read.
// Compare named_barrier.cu.
#include <cstdint>

constexpr int half = 64;

__device__ void full_arrive() { asm volatile("bar.arrive 1, 128;" ::: "memory"); }
__device__ void full_sync() { asm volatile("bar.sync 1, 128;" ::: "memory"); }
__device__ void empty_arrive() { asm volatile("bar.arrive 2, 128;" ::: "memory"); }
__device__ void empty_sync() { asm volatile("bar.sync 2, 128;" ::: "memory"); }

extern "C" __global__ __launch_bounds__(128) void named_barrier(const float *in, float *out, int rounds) {
  __shared__ float buf[half];

  const int t = threadIdx.x % half;
  if (threadIdx.x < half) {
    for (int r = 0; r < rounds; r++) {
      const float v = in[r * half + t];
      buf[t] = v * 3;
      full_arrive();
    }
  } else {
    for (int r = 0; r < rounds; r++) {
      full_sync();
      out[r * half + t] = buf[half - 1 - t];
    }
  }
}
