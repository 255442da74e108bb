// One kernel of the tensor campaign: one instruction, one tile a block.
// run.py compiles it once a kind, with CLASS, ACC, KW and INSTR defined.
//
// Tile t's A is 16 rows of KW words, its B 8 columns of KW words, its C and D
// 16 rows of 8 words (64-bit words for f64); an f16 accumulator lies in the
// low half of its word.
#include <cstdint>
typedef uint32_t u32;
typedef uint64_t u64;

#define F32 1
#define F16 2
#define S32 3
#define F64 4

#define OUT4F "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
#define IN4F "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3])
#define OUT4I "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
#define IN4I "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3])
#define A4 "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3])

#if ACC == F32
typedef float acc_t;
__device__ acc_t in(u32 x) { return __uint_as_float(x); }
__device__ u32 out(acc_t x) { return __float_as_uint(x); }
#define O4 OUT4F
#define I4 IN4F
#else
typedef u32 acc_t;
__device__ acc_t in(u32 x) { return x; }
__device__ u32 out(acc_t x) { return x; }
#define O4 OUT4I
#define I4 IN4I
#endif

// Two rows of two columns a lane, or half as many packed registers.
__device__ void loadC(acc_t *c, const u32 *C, int g, int t) {
#if ACC == F16
  c[0] = C[g * 8 + 2 * t] & 0xffff | C[g * 8 + 2 * t + 1] << 16;
  c[1] = C[(g + 8) * 8 + 2 * t] & 0xffff | C[(g + 8) * 8 + 2 * t + 1] << 16;
#else
  c[0] = in(C[g * 8 + 2 * t]), c[1] = in(C[g * 8 + 2 * t + 1]);
  c[2] = in(C[(g + 8) * 8 + 2 * t]), c[3] = in(C[(g + 8) * 8 + 2 * t + 1]);
#endif
}

__device__ void storeD(u32 *D, const acc_t *d, int g, int t) {
#if ACC == F16
  D[g * 8 + 2 * t] = d[0] & 0xffff, D[g * 8 + 2 * t + 1] = d[0] >> 16;
  D[(g + 8) * 8 + 2 * t] = d[1] & 0xffff, D[(g + 8) * 8 + 2 * t + 1] = d[1] >> 16;
#else
  D[g * 8 + 2 * t] = out(d[0]), D[g * 8 + 2 * t + 1] = out(d[1]);
  D[(g + 8) * 8 + 2 * t] = out(d[2]), D[(g + 8) * 8 + 2 * t + 1] = out(d[3]);
#endif
}

#define M16W8 1
#define M16W4 2
#define M8W4 3
#define QUAD 4
#define DMMA 5
#define SP16 6
#define WG 7
#define WGSP 8

// HALVES: a sparse kind whose group of four elements is one word.
#ifndef HALVES
#define HALVES 0
#endif
// Word w of the sparse B: what A's stored elements meet, and junk elsewhere.
__device__ u32 sparseB(const u32 *B, int w) {
#if HALVES
  return B[w / 2] >> 16 * (w & 1) & 0xffff | 0x7f7f0000;
#else
  return w & 1 ? 0x7fff7fff : B[w / 2];
#endif
}

extern "C" __global__ void probe(const u32 *A, const u32 *B, const u32 *C, u32 *D) {
  int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
#if CLASS == DMMA
  const double *Ad = (const double *)A + (size_t)blockIdx.x * 16 * KW / 2, *Bd = (const double *)B + (size_t)blockIdx.x * 8 * KW / 2;
  const double *Cd = (const double *)C + (size_t)blockIdx.x * 128;
  double *Dd = (double *)D + (size_t)blockIdx.x * 128;
  const int K = KW / 2;
  double d0, d1, d2, d3, c0 = Cd[g * 8 + 2 * t], c1 = Cd[g * 8 + 2 * t + 1], c2 = Cd[(g + 8) * 8 + 2 * t], c3 = Cd[(g + 8) * 8 + 2 * t + 1];
#define LO(i) "d"(Ad[g * K + t + 4 * (i)])
#define HI(i) "d"(Ad[(g + 8) * K + t + 4 * (i)])
#define BB(i) "d"(Bd[g * K + t + 4 * (i)])
#define OD "=d"(d0), "=d"(d1), "=d"(d2), "=d"(d3)
#define CD "d"(c0), "d"(c1), "d"(c2), "d"(c3)
#if M == 8
  asm volatile(INSTR " {%0,%1},{%2},{%3},{%4,%5};" : "=d"(d0), "=d"(d1) : LO(0), BB(0), "d"(c0), "d"(c1));
  d2 = d3 = 0;
#elif KW == 8
  asm volatile(INSTR " {%0,%1,%2,%3},{%4,%5},{%6},{%7,%8,%9,%10};" : OD : LO(0), HI(0), BB(0), CD);
#elif KW == 16
  asm volatile(INSTR " {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%10,%11,%12,%13};" : OD : LO(0), HI(0), LO(1), HI(1), BB(0), BB(1), CD);
#else
  asm volatile(INSTR " {%0,%1,%2,%3},{%4,%5,%6,%7,%8,%9,%10,%11},{%12,%13,%14,%15},{%16,%17,%18,%19};"
               : OD : LO(0), HI(0), LO(1), HI(1), LO(2), HI(2), LO(3), HI(3), BB(0), BB(1), BB(2), BB(3), CD);
#endif
  Dd[g * 8 + 2 * t] = d0, Dd[g * 8 + 2 * t + 1] = d1;
  Dd[(g + 8) * 8 + 2 * t] = d2, Dd[(g + 8) * 8 + 2 * t + 1] = d3;
#else
  A += (size_t)blockIdx.x * 16 * KW, B += (size_t)blockIdx.x * 8 * KW;
  C += (size_t)blockIdx.x * 128, D += (size_t)blockIdx.x * 128;

#if CLASS == QUAD
  int row = lane % 4 + lane / 16 * 4;
  u32 a0 = A[row * 2], a1 = A[row * 2 + 1], b0 = B[row * 2], b1 = B[row * 2 + 1];
#define R32(i) ((lane & 1) + ((i) & 2) + lane / 16 * 4)
#define C32(i) (((i) & 4) + (lane & 2) + ((i) & 1))
  u32 h[4];
  float f[8], o[8];
  for (int i = 0; i < 4; i++) h[i] = C[row * 8 + 2 * i] & 0xffff | C[row * 8 + 2 * i + 1] << 16;
  for (int i = 0; i < 8; i++) f[i] = __uint_as_float(C[R32(i) * 8 + C32(i)]);
#if QUADKIND == 0 // f32 = f32
  asm volatile(INSTR " {%0,%1,%2,%3,%4,%5,%6,%7},{%8,%9},{%10,%11},{%12,%13,%14,%15,%16,%17,%18,%19};"
               : "=f"(o[0]), "=f"(o[1]), "=f"(o[2]), "=f"(o[3]), "=f"(o[4]), "=f"(o[5]), "=f"(o[6]), "=f"(o[7])
               : "r"(a0), "r"(a1), "r"(b0), "r"(b1), "f"(f[0]), "f"(f[1]), "f"(f[2]), "f"(f[3]), "f"(f[4]), "f"(f[5]), "f"(f[6]), "f"(f[7]));
#elif QUADKIND == 1 // f32 = f16
  asm volatile(INSTR " {%0,%1,%2,%3,%4,%5,%6,%7},{%8,%9},{%10,%11},{%12,%13,%14,%15};"
               : "=f"(o[0]), "=f"(o[1]), "=f"(o[2]), "=f"(o[3]), "=f"(o[4]), "=f"(o[5]), "=f"(o[6]), "=f"(o[7])
               : "r"(a0), "r"(a1), "r"(b0), "r"(b1), "r"(h[0]), "r"(h[1]), "r"(h[2]), "r"(h[3]));
#else
  u32 q[4];
  asm volatile(INSTR " {%0,%1,%2,%3},{%4,%5},{%6,%7},{%8,%9,%10,%11};"
               : "=r"(q[0]), "=r"(q[1]), "=r"(q[2]), "=r"(q[3])
               : "r"(a0), "r"(a1), "r"(b0), "r"(b1), "r"(h[0]), "r"(h[1]), "r"(h[2]), "r"(h[3]));
#endif
  if (lane % 16 < 4)
    for (int i = 0; i < 8; i++) {
#if QUADKIND == 2
      D[row * 8 + i] = q[i / 2] >> 16 * (i & 1) & 0xffff;
#else
      D[R32(i) * 8 + C32(i)] = __float_as_uint(o[i]);
#endif
    }
#elif CLASS == WG || CLASS == WGSP
  __shared__ __align__(1024) u32 sa[64 * 8];
  __shared__ __align__(1024) u32 sb[8 * 16];
  for (int i = threadIdx.x; i < 64 * 8; i += 128) {
    int r = i / 8, w = i % 8;
    sa[(r / 8 * 2 + w / 4) * 32 + r % 8 * 4 + w % 4] = r < 16 ? A[r * 8 + w] : 0;
  }
  const int bw = CLASS == WGSP ? 16 : 8;
  for (int i = threadIdx.x; i < 8 * bw; i += 128) {
    int r = i / bw, w = i % bw;
    sb[w / 4 * 32 + r * 4 + w % 4] = CLASS == WGSP ? sparseB(B + r * 8, w) : B[r * 8 + w];
  }
  u64 da = (u64)((u32)__cvta_generic_to_shared(sa) >> 4 & 0x3fff) | 128ull >> 4 << 16 | 256ull >> 4 << 32;
  u64 db = (u64)((u32)__cvta_generic_to_shared(sb) >> 4 & 0x3fff) | 128ull >> 4 << 16 | 256ull >> 4 << 32;
  acc_t d[4] = {};
  loadC(d, C, g, t);
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#ifndef TAIL
#define TAIL ""
#endif
#ifndef SCALED
#define SCALED "1"
#endif
#define PRE "{.reg .pred p; .reg .b32 e; mov.b32 e, " SCALED "; setp.eq.u32 p, e, 1; "
#define PRES PRE "mov.b32 e, 0x44444444; "
#if ACC == F32
#define RW "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
#else
#define RW "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
#endif
#if CLASS == WG && ACC == F16
  asm volatile(PRE INSTR " {%0,%1}, %2, %3, p" TAIL ";}" : "+r"(d[0]), "+r"(d[1]) : "l"(da), "l"(db));
#elif CLASS == WG
  asm volatile(PRE INSTR " {%0,%1,%2,%3}, %4, %5, p" TAIL ";}" : RW : "l"(da), "l"(db));
#elif ACC == F16
  asm volatile(PRES INSTR " {%0,%1}, %2, %3, e, 0, p" TAIL ";}" : "+r"(d[0]), "+r"(d[1]) : "l"(da), "l"(db));
#else
  asm volatile(PRES INSTR " {%0,%1,%2,%3}, %4, %5, e, 0, p" TAIL ";}" : RW : "l"(da), "l"(db));
#endif
  asm volatile("wgmma.commit_group.sync.aligned;\n wgmma.wait_group.sync.aligned 0;" ::: "memory");
  if (threadIdx.x < 32) storeD(D, d, g, t);
#else
  u32 a[4], b[4];
  acc_t c[4] = {}, d[4] = {};
  loadC(c, C, g, t);
#if CLASS == SP16
  a[0] = A[g * 8 + t], a[1] = A[(g + 8) * 8 + t], a[2] = A[g * 8 + t + 4], a[3] = A[(g + 8) * 8 + t + 4];
  for (int i = 0; i < 4; i++) b[i] = sparseB(B + g * 8, t + 4 * i);
  u32 e = 0x44444444;
#if ACC == F16
  asm volatile(INSTR " {%0,%1},{%2,%3,%4,%5},{%6,%7,%8,%9},{%10,%11},%12,0x0;" : "=r"(d[0]), "=r"(d[1])
               : A4, "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(c[0]), "r"(c[1]), "r"(e));
#else
  asm volatile(INSTR " {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9,%10,%11},{%12,%13,%14,%15},%16,0x0;" : O4
               : A4, "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), I4, "r"(e));
#endif
#elif CLASS == M16W8
  a[0] = A[g * 8 + t], a[1] = A[(g + 8) * 8 + t], a[2] = A[g * 8 + t + 4], a[3] = A[(g + 8) * 8 + t + 4];
  b[0] = B[g * 8 + t], b[1] = B[g * 8 + t + 4];
#if ACC == F16
  asm volatile(INSTR " {%0,%1},{%2,%3,%4,%5},{%6,%7},{%8,%9};" : "=r"(d[0]), "=r"(d[1]) : A4, "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]));
#else
  asm volatile(INSTR " {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%10,%11,%12,%13};" : O4 : A4, "r"(b[0]), "r"(b[1]), I4);
#endif
#elif CLASS == M16W4
  a[0] = A[g * 4 + t], a[1] = A[(g + 8) * 4 + t], b[0] = B[g * 4 + t];
#if ACC == F16
  asm volatile(INSTR " {%0,%1},{%2,%3},{%4},{%5,%6};" : "=r"(d[0]), "=r"(d[1]) : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c[0]), "r"(c[1]));
#else
  asm volatile(INSTR " {%0,%1,%2,%3},{%4,%5},{%6},{%7,%8,%9,%10};" : O4 : "r"(a[0]), "r"(a[1]), "r"(b[0]), I4);
#endif
#else // M8W4
  a[0] = A[g * 4 + t], b[0] = B[g * 4 + t];
  asm volatile(INSTR " {%0,%1},{%2},{%3},{%4,%5};" : "=r"(d[0]), "=r"(d[1]) : "r"(a[0]), "r"(b[0]), "r"(c[0]), "r"(c[1]));
#endif
  storeD(D, d, g, t);
#endif
#endif
}
