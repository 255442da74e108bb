// Calls: not inlined, recursive, indirect, with structs by value; jump tables.
struct Pair { int a; double b; char c[12]; };

__device__ __noinline__ int twice(int x) { return 2 * x + threadIdx.x; }
__device__ __noinline__ Pair make(int x, const Pair &p) { Pair q = p; q.a += x; q.c[x & 7] = x; return q; }
__device__ __noinline__ int ack(int m, int n) {
  if (m == 0) return n + 1;
  if (n == 0) return ack(m - 1, 1);
  return ack(m - 1, ack(m, n - 1));
}
__device__ __noinline__ float4 spread(float x) { return make_float4(x, 2 * x, 3 * x, 4 * x); }
__device__ __noinline__ bool odd(unsigned n);
__device__ __noinline__ bool even(unsigned n) { return n == 0 ? true : odd(n - 1); }
__device__ __noinline__ bool odd(unsigned n) { return n == 0 ? false : even(n - 1); }

typedef int (*Unary)(int);
__device__ __noinline__ int inc(int x) { return x + 1; }
__device__ __noinline__ int dec(int x) { return x - 1; }
__device__ __noinline__ int sq(int x) { return x * x; }
__device__ Unary table[4] = {inc, dec, sq, twice};

extern "C" __global__ void direct(int *out, double *d) {
  Pair p = {1, 2.5, "abc"};
  Pair q = make(threadIdx.x, p);
  out[threadIdx.x] = twice(q.a) + q.c[3] + ack(2, q.a & 3) + even(threadIdx.x);
  d[threadIdx.x] = q.b + spread(threadIdx.x).z;
}

extern "C" __global__ void indirect(int *out, const int *which) {
  out[threadIdx.x] = table[which[threadIdx.x] & 3](threadIdx.x);
}

struct Shape { __device__ virtual float area() const = 0; };
struct Disc : Shape { float r; __device__ float area() const override { return 3.14159265f * r * r; } };
struct Box : Shape { float w, h; __device__ float area() const override { return w * h; } };

extern "C" __global__ void virtuals(float *out) {
  Disc d; d.r = threadIdx.x;
  Box b; b.w = 2; b.h = threadIdx.x;
  const Shape *s = threadIdx.x & 1 ? (const Shape *)&d : (const Shape *)&b;
  out[threadIdx.x] = s->area();
}

extern "C" __global__ void jump(int *out, const int *op, int n) {
  int acc = threadIdx.x;
  for (int i = 0; i < n; i++) {
    switch (op[i]) {
      case 0: acc += i; break;
      case 1: acc *= 3; break;
      case 2: acc ^= op[i + 1]; break;
      case 3: acc = __brev(acc); break;
      case 4: acc = acc << (i & 31); break;
      case 5: acc = acc / (i + 1); break;
      case 6: acc = __popc(acc); break;
      case 7: acc = -acc; break;
      case 9: out[threadIdx.x + 32] = acc; break;
      case 10: acc = max(acc, i); break;
      default: acc--;
    }
  }
  out[threadIdx.x] = acc;
}
