// For clang, with no CUDA headers: what LLVM's own back end prints.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))

__constant__ int primes[5] = {2, 3, 5, 7, 11};
__device__ float state[3] = {1.5f, -0.25f, 0};

__device__ static inline int tid() { return __nvvm_read_ptx_sreg_tid_x(); }

extern "C" __global__ void saxpy(float *x, const float *y, float a, int n) {
  for (int i = __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + tid(); i < n; i += __nvvm_read_ptx_sreg_ntid_x() * __nvvm_read_ptx_sreg_nctaid_x())
    x[i] = a * x[i] + y[i];
}

extern "C" __global__ void tree(const int *in, int *out) {
  __shared__ int buf[256];
  buf[tid()] = in[tid()] * primes[tid() % 5];
  __syncthreads();
  for (int s = 128; s > 0; s >>= 1) {
    if (tid() < s) buf[tid()] += buf[tid() + s];
    __syncthreads();
  }
  if (tid() == 0) *out = buf[0];
}

__device__ __attribute__((noinline)) long long gcd(long long a, long long b) { return b == 0 ? a : gcd(b, a % b); }
struct Quad { int v[4]; char tag; };
__device__ __attribute__((noinline)) Quad turn(Quad q, int by) { Quad r = q; for (int i = 0; i < 4; i++) r.v[(i + by) & 3] = q.v[i]; r.tag++; return r; }

extern "C" __global__ void helpers(long long *a, Quad *q, double *d) {
  int t = tid();
  a[t] = gcd(a[t], a[t + 32]);
  q[t] = turn(q[t], t);
  d[t] = __nvvm_sqrt_rn_d(d[t]) + state[t % 3] + __builtin_fma(d[t], d[t + 1], 1.0);
  __nvvm_atom_add_gen_i((int *)a, 3);
  switch (t) {
    case 0: d[0] = 1; break; case 1: d[3] = 2; break; case 2: d[5] = 3; break; case 3: d[9] = 4; break;
    case 4: d[1] = 5; break; case 5: d[2] = 6; break; case 6: d[4] = 7; break;
  }
}

extern "C" __global__ void warp(int *out) {
  int v = tid();
  v += __nvvm_shfl_sync_bfly_i32(-1, v, 4, 31);
  v += __nvvm_vote_ballot_sync(-1, v > 5);
  __nvvm_membar_gl();
  out[tid()] = v;
}
