// State spaces: generic addresses, conversions both ways, which space is it.
#include <cstdint>
__constant__ int k[4] = {1, 2, 3, 4};
__device__ int g[4] = {5, 6, 7, 8};
__device__ int *const pointers[3] = {g, g + 2, nullptr};
struct Node { const Node *next; int v; };
__device__ const Node tail = {nullptr, 3};
__device__ const Node head = {&tail, 4};
struct alignas(16) Big { int a[20]; short b; double c; };

extern "C" __global__ void which(int *out, const int *any) {
  __shared__ int s[4];
  int l[4] = {out[0], out[1], out[2], out[3]};
  s[threadIdx.x & 3] = threadIdx.x;
  __syncthreads();
  const int *p = threadIdx.x == 0 ? k : threadIdx.x == 1 ? g : threadIdx.x == 2 ? s : threadIdx.x == 3 ? l : any;
  int r = p[threadIdx.x & 3] + __isShared(p) * 10 + __isGlobal(p) * 100 + __isLocal(p) * 1000 + __isConstant(p) * 10000;
  r += (int)(uintptr_t)__cvta_generic_to_global(any) + (int)__cvta_generic_to_shared(s) + *(int *)__cvta_shared_to_generic(__cvta_generic_to_shared(s));
  for (const Node *n = &head; n; n = n->next) r += n->v;
  out[threadIdx.x] = r + *pointers[threadIdx.x & 1];
}

extern "C" __global__ void by_value(int *out, const Big big, const __grid_constant__ Big fixed, char c, bool flag, float4 q) {
  const Big *p = threadIdx.x & 1 ? &fixed : &big;
  out[threadIdx.x] = p->a[threadIdx.x % 20] + p->b + (int)p->c + c + flag + (int)q.z;
}
