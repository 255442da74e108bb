// BROKEN on purpose. The consumers' sync on 'full' counts 96 threads, the
// producers' arrive 128. Compare named_barrier.cu.
#include <cstdint>

constexpr int half = 64;

__device__ void full_arrive() { asm volatile("bar.arrive 1, 128;" ::: "memory"); }
__device__ void full_sync() { asm volatile("bar.sync 1, 96;" ::: "memory"); }
__device__ void empty_arrive() { asm volatile("bar.arrive 2, 128;" ::: "memory"); }
__device__ void empty_sync() { asm volatile("bar.sync 2, 128;" ::: "memory"); }

extern "C" __global__ __launch_bounds__(128) void named_barrier(const float *in, float *out, int rounds) {
  __shared__ float buf[half];

  const int t = threadIdx.x % half;
  if (threadIdx.x < half) {
    for (int r = 0; r < rounds; r++) {
      const float v = in[r * half + t];
      empty_sync();
      buf[t] = v * 3;
      full_arrive();
    }
  } else {
    for (int r = 0; r < rounds; r++) {
      empty_arrive();
      full_sync();
      out[r * half + t] = buf[half - 1 - t];
    }
  }
}
