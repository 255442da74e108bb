// Constant tables, static and dynamic shared memory, local arrays, volatile,
// launch bounds, wide loads, caches, 64-bit division.
#include <cstdint>

__constant__ float weights[16] = {0.5f, -1.25f, 3e-7f, 1e30f, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
__constant__ struct { char tag; short s; int i; double d; const char *name; } record = {'x', -3, 70000, 2.75, "record"};
__device__ uint64_t counter = 0x123456789abcdef0ull;
__device__ const char text[] = "a string, \"quoted\"\n";
__device__ float grid_state[2][3][4] = {{{1, 2, 3, 4}, {5}, {}}, {{0, 0, 7}}};
__managed__ int managed_value = 9;
extern __shared__ __align__(16) unsigned char dynamic[];

extern "C" __global__ void __launch_bounds__(256, 2) constants(float *out, int n) {
  float s = 0;
  for (int i = 0; i < n; i++) s += weights[(i + threadIdx.x) & 15] * grid_state[i & 1][i % 3][threadIdx.x & 3];
  out[threadIdx.x] = s + record.i + record.s + record.tag + (float)record.d + record.name[threadIdx.x & 3] + text[threadIdx.x % 19] + managed_value;
}

extern "C" __global__ void __maxnreg__(64) dynamic_shared(float *out, int n) {
  float *f = (float *)dynamic;
  double *d = (double *)(dynamic + n * 4);
  __shared__ int2 pair[3][5];
  f[threadIdx.x] = threadIdx.x;
  d[threadIdx.x] = threadIdx.x * 0.5;
  pair[threadIdx.x % 3][threadIdx.x % 5] = make_int2(1, 2);
  __syncthreads();
  out[threadIdx.x] = f[n - 1 - threadIdx.x] + d[threadIdx.x ^ 1] + pair[1][2].y;
}

extern "C" __global__ void local_array(const int *in, int *out, int n) {
  int heap[64];
  for (int i = 0; i < 64; i++) heap[i] = in[i * 32 + threadIdx.x];
  for (int i = 1; i < n; i++)
    for (int j = i; j > 0 && heap[j - 1] > heap[j]; j--) { int t = heap[j]; heap[j] = heap[j - 1]; heap[j - 1] = t; }
  int *p = n & 1 ? heap : out;
  out[threadIdx.x] = p[n & 63];
}

extern "C" __global__ void wide_access(const int4 *__restrict__ a, int4 *b, volatile int *v, const longlong2 *l, short4 *s, uchar4 *c) {
  int i = threadIdx.x;
  int4 x = a[i], y = __ldg(a + i + 32), z = __ldcs(a + i + 64), w = __ldcg(a + i + 96);
  x.x += y.y + z.z + w.w + __ldca((const int *)a + i) + __ldcv((const int *)a + i + 1) + __ldlu((const int *)a + i + 2);
  __stcs(b + i, x); __stcg(b + i + 32, y); __stwt(b + i + 64, z); __stwb(b + i + 96, w);
  v[0] = v[1] + v[2];
  longlong2 m = l[i];
  s[i] = make_short4(m.x, m.y, x.x, x.y);
  c[i] = make_uchar4(m.x, m.y, x.z, x.w);
}

extern "C" __global__ void divide(int64_t *a, uint64_t *u, int32_t *i, uint32_t *j) {
  int t = threadIdx.x;
  a[t] = a[t] / a[t + 32] + a[t] % 1000003;
  u[t] = u[t] / u[t + 32] + u[t] % 10 + __umul64hi(u[t], u[t + 1]);
  i[t] = i[t] / i[t + 32] + i[t] % 7 + __mulhi(i[t], i[t + 1]);
  j[t] = j[t] / j[t + 32] + j[t] % j[t + 1] + (uint32_t)counter;
  __int128 w = (__int128)a[t] * a[t + 1] + u[t];
  a[t] = (int64_t)(w >> 61);
}
