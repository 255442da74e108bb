// Asynchronous 16-byte copies (LDGSTS) that arrive on an mbarrier by themselves.
// Two stages: while the CTA reads one, every thread's copy into the other is in
// flight. cp.async.mbarrier.arrive.noinc makes a thread's arrival count once
// its copies have landed, so a stage's barrier counts one arrival a thread.
#include <cstdint>

constexpr int threads = 128;
constexpr int tile = threads * 4;

__device__ uint32_t shared_address(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

__device__ void init(uint64_t *bar, uint32_t count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(bar)), "r"(count) : "memory");
}

__device__ void copy16(float *dst, const float *src) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(dst)), "l"(src) : "memory");
}

__device__ void arrive_when_landed(uint64_t *bar) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(shared_address(bar)) : "memory");
}

__device__ void wait(uint64_t *bar, uint32_t parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}" ::"r"(shared_address(bar)), "r"(parity) : "memory");
}

extern "C" __global__ __launch_bounds__(threads) void ldgsts(const float *in, float *out, int tiles) {
  __shared__ alignas(16) float buf[2][tile];
  __shared__ uint64_t landed[2];

  const int t = threadIdx.x;
  if (t == 0) {
    init(&landed[0], threads);
    init(&landed[1], threads);
  }
  __syncthreads();

  copy16(&buf[0][4 * t], in + 4 * t);
  arrive_when_landed(&landed[0]);
  for (int k = 0; k < tiles; k++) {
    const int s = k & 1;
    if (k + 1 < tiles) {
      copy16(&buf[s ^ 1][4 * t], in + (k + 1) * tile + 4 * t);
      arrive_when_landed(&landed[s ^ 1]);
    }
    wait(&landed[s], (k >> 1) & 1);
    float sum = 0;
    for (int i = 0; i < 4; i++) sum += buf[s][i * threads + (threads - 1 - t)];
    out[k * threads + t] = sum;
    __syncthreads();
  }
}
