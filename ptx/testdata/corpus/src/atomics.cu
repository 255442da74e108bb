// cuda::atomic_ref in every scope and order; the built-in atomics.
#include <cuda/atomic>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <cuda::thread_scope S> __device__ int use(int *p, int v) {
  cuda::atomic_ref<int, S> a(*p);
  int r = a.fetch_add(v, cuda::memory_order_relaxed);
  r += a.fetch_sub(v, cuda::memory_order_acquire);
  r += a.fetch_and(v, cuda::memory_order_release);
  r += a.fetch_or(v, cuda::memory_order_acq_rel);
  r += a.fetch_xor(v, cuda::memory_order_seq_cst);
  r += a.fetch_max(v, cuda::memory_order_relaxed) + a.fetch_min(v, cuda::memory_order_relaxed);
  r += a.exchange(v, cuda::memory_order_acq_rel);
  int want = r;
  a.compare_exchange_strong(want, v, cuda::memory_order_acq_rel, cuda::memory_order_relaxed);
  r += a.load(cuda::memory_order_acquire) + a.load(cuda::memory_order_relaxed) + a.load(cuda::memory_order_seq_cst);
  a.store(r, cuda::memory_order_release);
  a.store(r, cuda::memory_order_seq_cst);
  cuda::atomic_thread_fence(cuda::memory_order_acq_rel, S);
  cuda::atomic_thread_fence(cuda::memory_order_seq_cst, S);
  return r;
}

extern "C" __global__ void scopes(int *p, int *out) {
  out[threadIdx.x] = use<cuda::thread_scope_block>(p, threadIdx.x) + use<cuda::thread_scope_device>(p + 1, threadIdx.x) +
                     use<cuda::thread_scope_system>(p + 2, threadIdx.x);
}

extern "C" __global__ void wide(long long *p, double *d, float *f, unsigned char *b) {
  cuda::atomic_ref<long long, cuda::thread_scope_device> a(*p);
  a.fetch_add(1);
  cuda::atomic_ref<double, cuda::thread_scope_device> x(*d);
  x.fetch_add(1.5, cuda::memory_order_relaxed);
  cuda::atomic_ref<float, cuda::thread_scope_block> y(*f);
  y.fetch_max(2.5f);
  cuda::atomic_ref<unsigned char, cuda::thread_scope_device> z(*b);
  z.fetch_add(3);
  z.exchange(4);
}

extern "C" __global__ void builtin(int *i, unsigned *u, unsigned long long *l, float *f, double *d, __half2 *h, __nv_bfloat162 *b) {
  __shared__ int s;
  __shared__ float sf;
  if (threadIdx.x == 0) s = 0, sf = 0;
  __syncthreads();
  atomicAdd(&s, 1); atomicMax(&s, (int)threadIdx.x); atomicAdd(&sf, 1.0f);
  atomicAdd(i, 1); atomicAdd_block(i, 1); atomicAdd_system(i, 1);
  atomicSub(i, 2); atomicMin(i, 3); atomicMax(u, 4u); atomicAnd(i, 5); atomicOr(i, 6); atomicXor(i, 7);
  u[1] = atomicInc(u, 17u); u[2] = atomicDec(u, 18u); u[3] = atomicCAS(u, 1u, 2u); u[4] = atomicExch(u, 3u);
  l[1] = atomicAdd(l, 1ull); l[2] = atomicCAS(l, 2ull, 3ull); l[3] = atomicMax(l, 7ull);
  f[1] = atomicAdd(f, 1.0f); atomicExch(f, 2.0f); d[1] = atomicAdd(d, 1.0);
  atomicAdd(h, __float2half2_rn(1.0f));
  atomicAdd(b, __float2bfloat162_rn(1.0f));
  atomicAdd((__half *)h + 2, __float2half(1.0f));
  __threadfence_block(); __threadfence(); __threadfence_system();
  i[1] = s + (int)sf;
}

__device__ unsigned int ticket;
extern "C" __global__ void last_block(const float *in, float *out, int n) {
  __shared__ bool last;
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  atomicAdd(&out[1 + blockIdx.x], sum);
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicInc(&ticket, gridDim.x - 1) == gridDim.x - 1;
  __syncthreads();
  if (last && threadIdx.x == 0) {
    float total = 0;
    for (int b = 0; b < gridDim.x; b++) total += ((volatile float *)out)[1 + b];
    out[0] = total;
  }
}
