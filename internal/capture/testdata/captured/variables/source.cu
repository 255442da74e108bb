// Launches that a capture has to see: scalars, structs, variables, pinned and managed memory.
#include <cstdio>
#include <cuda_runtime.h>
__constant__ float scale[4];
__device__ int counter;
__device__ float table[256];
struct Pair { const float *in; float *out; int n; float bias; };
__global__ void saxpy(Pair p, int add) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < p.n) p.out[i] = p.in[i] * scale[i & 3] + p.bias + add + table[i & 255];
  if (i == 0) atomicAdd(&counter, 1);
}
__global__ void gather(const int *index, const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[index[i]];
}
__global__ void viaPointer(float *t, int n) { if (threadIdx.x < n) t[threadIdx.x] += 1; }
int main() {
  const int n = 1000;
  float h[4] = {1, 2, 3, 4}; cudaMemcpyToSymbol(scale, h, sizeof h);
  float *in, *out, *managed; int *index;
  cudaMalloc(&in, n * 4); cudaMalloc(&out, n * 4); cudaHostAlloc(&index, n * 4, 0); cudaMallocManaged(&managed, n * 4);
  float tmp[n]; for (int i = 0; i < n; i++) tmp[i] = i * .5f, index[i] = (i * 7) % n, managed[i] = -i;
  cudaMemcpy(in, tmp, n * 4, cudaMemcpyHostToDevice);
  Pair p = {in, out, n, 3};
  for (int k = 0; k < 5; k++) saxpy<<<4, 256>>>(p, 7);
  gather<<<4, 256>>>(index, managed, out, n);
  float *t; cudaGetSymbolAddress((void **)&t, table); viaPointer<<<1, 256>>>(t, 256);
  cudaError_t e = cudaDeviceSynchronize();
  cudaMemcpy(tmp, out, n * 4, cudaMemcpyDeviceToHost);
  printf("%s %g\n", cudaGetErrorString(e), tmp[10]); return e != 0 ? 1 : 3;
}
