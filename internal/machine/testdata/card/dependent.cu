// What an H200 does with chains of dependent launches. Prints one line an experiment.
#include <cstdio>
#include <cuda_runtime.h>
#include <initializer_list>
#define CK(x) do { cudaError_t er_ = (x); if (er_ != cudaSuccess) { printf("%s: %s\n", #x, cudaGetErrorString(er_)); exit(1); } } while (0)
__device__ void trigger() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
__device__ void depwait() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
__device__ unsigned long long now() { unsigned long long t; asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t)); return t; }
__device__ void spin(unsigned long long ns) { unsigned long long t = now(); while (now() - t < ns) {} }
// primary: trig 0 never, 1 first, 2 after an early store, 3 after an early store and a fence
__global__ void A(int *x, int *early, unsigned long long *t, int trig, unsigned long long ns) {
  if (threadIdx.x == 0) t[0] = now();
  if (trig == 1) trigger();
  if (trig == 2) { early[blockIdx.x * blockDim.x + threadIdx.x] = 1; trigger(); }
  if (trig == 3) { early[blockIdx.x * blockDim.x + threadIdx.x] = 1; __threadfence(); trigger(); }
  spin(ns);
  x[blockIdx.x * blockDim.x + threadIdx.x] = 1;
  if (threadIdx.x == 0) t[1] = now();
}
// middle: wait 0 never, 1 at once, 2 at the end; trig 1 first
__global__ void B(int *x, int *y, unsigned long long *t, int wait, int trig) {
  if (threadIdx.x == 0) t[2] = now();
  if (trig == 1) trigger();
  if (wait == 1) depwait();
  y[blockIdx.x * blockDim.x + threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
  if (wait == 2) depwait();
  if (threadIdx.x == 0) t[3] = now();
}
__global__ void C(int *x, int *z, unsigned long long *t, int wait) {
  if (threadIdx.x == 0) t[4] = now();
  if (wait) depwait();
  z[blockIdx.x * blockDim.x + threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
  if (threadIdx.x == 0) t[5] = now();
}
template <class... P, class... Q> void go(cudaStream_t s, int grid, bool pdl, void (*f)(P...), Q... q) {
  cudaLaunchConfig_t c{}; c.gridDim = grid; c.blockDim = 128; c.stream = s;
  cudaLaunchAttribute a[1]; a[0].id = cudaLaunchAttributeProgrammaticStreamSerialization; a[0].val.programmaticStreamSerializationAllowed = 1;
  c.attrs = a; c.numAttrs = pdl ? 1 : 0;
  CK(cudaLaunchKernelEx(&c, f, P(q)...));
}
int n(const int *h, int grid) { int k = 0; for (int i = 0; i < grid * 128; i++) k += h[i]; return k; }
int main() {
  const int G = 8, R = 20;
  int *x, *y, *z, *e, hy[G*128], hz[G*128]; unsigned long long *t, ht[8];
  CK(cudaMalloc(&x, G*512)); CK(cudaMalloc(&y, G*512)); CK(cudaMalloc(&z, G*512)); CK(cudaMalloc(&e, G*512)); CK(cudaMalloc(&t, 64));
  cudaStream_t s, s2; CK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking)); CK(cudaStreamCreateWithFlags(&s2, cudaStreamNonBlocking));
  // warm up
  go(s, G, false, A, x, e, t, 0, 1000ull); go(s, G, false, B, x, y, t, 0, 0); go(s, G, false, C, x, z, t, 0); CK(cudaDeviceSynchronize());
  for (int trig = 0; trig <= 3; trig++) for (int bw = 0; bw <= 2; bw++) for (int bt = 0; bt <= 1; bt++) for (int cp = 0; cp <= 2; cp++) {
    int sawB = 0, sawC = 0, bBefore = 0, cBefore = 0, cStart = 0;
    for (int r = 0; r < R; r++) {
      CK(cudaMemset(x, 0, G*512)); CK(cudaMemset(y, 0, G*512)); CK(cudaMemset(z, 0, G*512)); CK(cudaMemset(e, 0, G*512)); CK(cudaMemset(t, 0, 64)); CK(cudaDeviceSynchronize());
      go(s, G, false, A, x, e, t, trig, 300000ull);
      go(s, G, true, B, trig >= 2 ? e : x, y, t, bw, bt);
      go(s, G, cp > 0, C, x, z, t, cp == 1);
      CK(cudaDeviceSynchronize());
      CK(cudaMemcpy(hy, y, G*512, cudaMemcpyDeviceToHost)); CK(cudaMemcpy(hz, z, G*512, cudaMemcpyDeviceToHost)); CK(cudaMemcpy(ht, t, 64, cudaMemcpyDeviceToHost));
      sawB += n(hy, G) == G*128; sawC += n(hz, G) == G*128; bBefore += ht[2] < ht[1]; cBefore += ht[5] < ht[1]; cStart += ht[4] < ht[1];
    }
    printf("A trigger %s; B %s, %s; C %s: B saw all %d/%d, B began before A ended %d, C saw all %d, C began before A ended %d, C ended before A %d\n",
      (const char*[]){"never","first","after a store (B reads that store)","after a store and a fence (B reads that store)"}[trig], (const char*[]){"never waits","waits first","waits last"}[bw], bt ? "triggers first" : "never triggers",
      (const char*[]){"not dependent","dependent, waits","dependent, never waits"}[cp], sawB, R, bBefore, sawC, cStart, cBefore);
  }
  // a memset, a copy, an event between A and a dependent B
  for (int kind = 0; kind < 4; kind++) {
    int sawB = 0, bBefore = 0; cudaEvent_t ev; CK(cudaEventCreateWithFlags(&ev, cudaEventDisableTiming));
    for (int r = 0; r < R; r++) {
      CK(cudaMemset(x, 0, G*512)); CK(cudaMemset(y, 0, G*512)); CK(cudaMemset(t, 0, 64)); CK(cudaDeviceSynchronize());
      go(s, G, false, A, x, e, t, 1, 300000ull);
      if (kind == 0) CK(cudaMemsetAsync(z, 0, 512, s));
      if (kind == 1) CK(cudaMemcpyAsync(z, e, 512, cudaMemcpyDeviceToDevice, s));
      if (kind == 2) CK(cudaEventRecord(ev, s));
      if (kind == 3) { go(s2, G, false, C, e, z, t, 0); CK(cudaEventRecord(ev, s2)); CK(cudaStreamWaitEvent(s, ev, 0)); }
      go(s, G, true, B, x, y, t, 0, 0);
      CK(cudaDeviceSynchronize());
      CK(cudaMemcpy(hy, y, G*512, cudaMemcpyDeviceToHost)); CK(cudaMemcpy(ht, t, 64, cudaMemcpyDeviceToHost));
      sawB += n(hy, G) == G*128; bBefore += ht[2] < ht[1];
    }
    printf("A triggers first; %s between; dependent B never waits: B saw all %d/%d, B began before A ended %d\n", (const char*[]){"a memset","a copy","an event record","a wait for an event of another stream"}[kind], sawB, R, bBefore);
  }
  // an event recorded behind a dependent kernel that never waits: does another stream go on before A has ended?
  { int saw = 0, before = 0; cudaEvent_t ev; CK(cudaEventCreateWithFlags(&ev, cudaEventDisableTiming));
    for (int r = 0; r < R; r++) {
      CK(cudaMemset(x, 0, G*512)); CK(cudaMemset(z, 0, G*512)); CK(cudaMemset(t, 0, 64)); CK(cudaDeviceSynchronize());
      go(s, G, false, A, x, e, t, 1, 300000ull); go(s, G, true, B, x, y, t, 0, 0); CK(cudaEventRecord(ev, s)); CK(cudaStreamWaitEvent(s2, ev, 0)); go(s2, G, false, C, x, z, t, 0);
      CK(cudaDeviceSynchronize());
      CK(cudaMemcpy(hz, z, G*512, cudaMemcpyDeviceToHost)); CK(cudaMemcpy(ht, t, 64, cudaMemcpyDeviceToHost));
      saw += n(hz, G) == G*128; before += ht[4] < ht[1];
    }
    printf("A triggers first; dependent B never waits; event; C in another stream behind the event: C saw all %d/%d, C began before A ended %d\n", saw, R, before); }
  // a trigger of some threads, of some CTAs
  return 0;
}
