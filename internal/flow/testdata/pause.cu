// How long a failed test of a wait takes, where what comes next depends on it: test_wait,
// try_wait without and with a time limit of 100 us, strong loads, nanosleep.
#include <cstdio>
#include <cstdint>
__device__ uint64_t now() { uint64_t t; asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)); return t; }
__global__ void k(uint64_t *out, uint32_t *word) {
  __shared__ __align__(8) uint64_t bar;
  uint32_t b = (uint32_t)__cvta_generic_to_shared(&bar);
  asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(b));
  uint32_t p, s = 0;
  long long c = clock64(); uint64_t g = now();
  for (int i = 0; i < 1000; i++) { asm volatile("{.reg .pred q; mbarrier.test_wait.parity.shared.b64 q, [%1], 0; selp.u32 %0, 1, 0, q;}" : "=r"(p) : "r"(b) : "memory"); s += p; if (s > 1u << 30) __trap(); }
  out[0] = clock64() - c; out[1] = now() - g;
  c = clock64(); g = now();
  for (int i = 0; i < 10; i++) { asm volatile("{.reg .pred q; mbarrier.try_wait.parity.shared.b64 q, [%1], 0; selp.u32 %0, 1, 0, q;}" : "=r"(p) : "r"(b) : "memory"); s += p; if (s > 1u << 30) __trap(); }
  out[2] = clock64() - c; out[3] = now() - g;
  c = clock64(); g = now();
  for (int i = 0; i < 10; i++) { asm volatile("{.reg .pred q; mbarrier.try_wait.parity.shared.b64 q, [%1], 0, 100000; selp.u32 %0, 1, 0, q;}" : "=r"(p) : "r"(b) : "memory"); s += p; if (s > 1u << 30) __trap(); }
  out[4] = clock64() - c; out[5] = now() - g;
  c = clock64(); g = now(); uint32_t v;
  for (int i = 0; i < 1000; i++) { asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(word) : "memory"); s += v; if (s > 1u << 30) __trap(); }
  out[6] = clock64() - c; out[7] = now() - g;
  c = clock64(); g = now();
  for (int i = 0; i < 1000; i++) { asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(v) : "r"(b) : "memory"); s += v; if (s > 1u << 30) __trap(); }
  out[8] = clock64() - c; out[9] = now() - g;
  c = clock64(); g = now();
  for (int i = 0; i < 100; i++) asm volatile("nanosleep.u32 100;" ::: "memory");
  out[10] = clock64() - c; out[11] = now() - g;
  out[12] = s;
}
int main() {
  uint64_t *out, h[16] = {}; uint32_t *w; cudaMalloc(&out, 128); cudaMalloc(&w, 128); cudaMemset(w, 0, 128);
  for (int r = 0; r < 3; r++) { k<<<1, 1>>>(out, w); cudaMemcpy(h, out, 13 * 8, cudaMemcpyDeviceToHost);
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
    const char *n[] = {"test_wait x1000", "try_wait x10", "try_wait 100us x10", "ld.acquire.gpu x1000", "ld.volatile.shared x1000", "nanosleep 100 x100"};
    for (int i = 0; i < 6; i++) printf("%-26s %12llu cycles %12llu ns\n", n[i], (unsigned long long)h[2*i], (unsigned long long)h[2*i+1]); }
}
// What an H100 answered, by clock64 and globaltimer:
// test_wait x1000                   62382 cycles        31584 ns
// try_wait x10                      77875 cycles        39360 ns
// try_wait 100us x10                78790 cycles        39808 ns
// ld.acquire.gpu x1000             286201 cycles       144608 ns
// ld.volatile.shared x1000          48391 cycles        24448 ns
// nanosleep 100 x100                25138 cycles        12704 ns
// What an H200 answered to 1,000 failed try_waits, by globaltimer: 3,924 ns each without a time
// limit, and 3,981 ns with any of 0, 1, 10, 50, 100, 500, 1,000, 2,000, 4,000, 10,000, 100,000 and
// 1,000,000 ns. So a limit shortens nothing there, and lengthens nothing.
