// printf, assert, trap, malloc and clocks: calls into the system.
#include <cassert>
#include <cstdio>

extern "C" __global__ void hello(int n, double x, const char *name) {
  printf("thread %d of %d: %f %s\n", threadIdx.x, n, x, name);
  assert(threadIdx.x < 1024 && "too many threads");
  if (n < 0) __trap();
  if (n == 77) __brkpt();
}

extern "C" __global__ void heap(int **out, int n) {
  int *p = (int *)malloc(n * sizeof(int));
  if (p) {
    memset(p, threadIdx.x, n * sizeof(int));
    memcpy(out[0], p, n * sizeof(int));
  }
  out[threadIdx.x] = p;
  if (threadIdx.x & 1) free(p);
}

extern "C" __global__ void clocks(long long *out) {
  long long a = clock64();
  __nanosleep(100);
  unsigned b = clock();
  unsigned long long g;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(g));
  unsigned sm, warp, lane, mask;
  asm("mov.u32 %0, %%smid; mov.u32 %1, %%warpid; mov.u32 %2, %%laneid; mov.u32 %3, %%lanemask_lt;" : "=r"(sm), "=r"(warp), "=r"(lane), "=r"(mask));
  out[threadIdx.x] = a + b + g + sm + warp + lane + mask;
}
