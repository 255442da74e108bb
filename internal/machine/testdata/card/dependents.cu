// When a dependent launch begins: the first launch_dependents of a CTA, or all of them?
#include <cstdio>
#include <cuda_runtime.h>
#define CK(x) do { cudaError_t er_ = (x); if (er_ != cudaSuccess) { printf("%s: %s\n", #x, cudaGetErrorString(er_)); return 1; } } while (0)
__device__ void trigger() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
__device__ void depwait() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
__device__ unsigned long long now() { unsigned long long t; asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t)); return t; }
__device__ void spin(unsigned long long ns) { unsigned long long t = now(); while (now() - t < ns) {} }
// how: 0 one lane of one warp; 1 one warp; 2 all warps, the others later; 3 one warp of CTA 0 alone; 4 all but one warp have exited, which spins, none triggers; 5 as 4 with one that triggered before
__global__ void A(int *x, unsigned long long *t, int how) {
  int w = threadIdx.x / 32;
  if (how == 0 && threadIdx.x == 0) trigger();
  if (how == 1 && w == 0) trigger();
  if (how == 2) { if (w == 0) trigger(); else { spin(300000); trigger(); } }
  if (how == 3 && w == 0 && blockIdx.x == 0) trigger();
  if (how == 4 && w) return;
  if (how == 5 && w) { trigger(); return; }
  spin(300000);
  x[blockIdx.x * blockDim.x + threadIdx.x] = 1;
  if (threadIdx.x == 0) t[1] = now();
}
__global__ void B(int *x, int *y, unsigned long long *t, int how) {
  if (threadIdx.x == 0) t[2] = now();
  if (how == 1) { depwait(); trigger(); }
  if (how == 2) { if (threadIdx.x == 0) depwait(); __syncthreads(); trigger(); }
  y[threadIdx.x] = x[threadIdx.x];
  if (how == 1) spin(100000);
}
__global__ void C(int *x, int *z, unsigned long long *t) { if (threadIdx.x == 0) t[3] = now(); z[threadIdx.x] = x[threadIdx.x]; }
template <class... P, class... Q> cudaError_t go(cudaStream_t s, int grid, bool pdl, void (*f)(P...), Q... q) {
  cudaLaunchConfig_t c{}; c.gridDim = grid; c.blockDim = 128; c.stream = s;
  cudaLaunchAttribute a[1]; a[0].id = cudaLaunchAttributeProgrammaticStreamSerialization; a[0].val.programmaticStreamSerializationAllowed = 1;
  c.attrs = a; c.numAttrs = pdl ? 1 : 0; return cudaLaunchKernelEx(&c, f, P(q)...);
}
int main() {
  int *x, *y, *z, h[128], hz[128]; unsigned long long *t, ht[4]; cudaStream_t s;
  CK(cudaMalloc(&x, 4096)); CK(cudaMalloc(&y, 4096)); CK(cudaMalloc(&z, 4096)); CK(cudaMalloc(&t, 64)); CK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  const char *hows[] = {"one lane of one warp triggers", "one warp triggers", "one warp triggers first, the others 300 us later", "one warp of one CTA of two triggers", "all warps but one exit, none triggers", "all warps but one trigger and exit"};
  for (int warm = 0; warm < 2; warm++) for (int how = 0; how < 6; how++) for (int b = 0; b < 3; b++) {
    int before = 0, cSaw = 0, cBefore = 0;
    for (int r = 0; r < 10; r++) {
      CK(cudaMemset(x, 0, 4096)); CK(cudaMemset(t, 0, 64)); CK(cudaDeviceSynchronize());
      CK(go(s, 2, false, A, x, t, how)); CK(go(s, 1, true, B, x, y, t, b)); CK(go(s, 1, true, C, x, z, t)); CK(cudaDeviceSynchronize());
      CK(cudaMemcpy(h, y, 512, cudaMemcpyDeviceToHost)); CK(cudaMemcpy(hz, z, 512, cudaMemcpyDeviceToHost)); CK(cudaMemcpy(ht, t, 32, cudaMemcpyDeviceToHost));
      before += ht[2] < ht[1]; cBefore += ht[3] < ht[1]; int k = 0; for (int i = 0; i < 32; i++) k += hz[i]; cSaw += k == 32;
    }
    if (warm) printf("A: %s; B: %s; C dependent, never waits: B began before A ended %d/10, C began before A ended %d, C saw all that A wrote %d\n", hows[how], b == 0 ? "never waits" : b == 1 ? "waits, then triggers" : "thread 0 waits, barrier, then triggers", before, cBefore, cSaw);
  }
}
