// Integer instructions: bits, fields, dot products, video, carries, packing.
#include <cstdint>

extern "C" __global__ void bits(uint32_t *a, uint64_t *b) {
  int t = threadIdx.x;
  uint32_t x = a[t], y = a[t + 32];
  uint64_t z = b[t];
  uint32_t r = __popc(x) + __clz(x) + __ffs(x) + __brev(x) + __byte_perm(x, y, 0x3175);
  r += __funnelshift_l(x, y, t) + __funnelshift_rc(x, y, t) + __mul24(x, y) + __umul24(x, y) + __sad(x, y, t) + __usad(x, y, t);
  r += __hadd(x, y) + __uhadd(x, y) + __rhadd(x, y) + __umulhi(x, y) + __mulhi((int)x, (int)y);
  r += __dp4a(x, y, r) + __dp2a_lo(x, y, r) + __dp2a_hi((int)x, (int)y, (int)r) + __dp4a((int)x, (int)y, (int)r);
  r += (x & y | ~x & r) ^ (x >> 3) + (int(x) >> 5) + (x << (y & 31));
  r += __popcll(z) + __clzll(z) + __ffsll(z) + (uint32_t)(__brevll(z) >> 32);
  a[t] = r;
  b[t] = z * z + (z >> (t & 63)) + (uint64_t)((int64_t)z >> 3) + min((int64_t)z, (int64_t)r) + max(z, (uint64_t)x) + (uint64_t)llabs((int64_t)z);
}

extern "C" __global__ void simd(uint32_t *a) {
  int t = threadIdx.x;
  uint32_t x = a[t], y = a[t + 32];
  uint32_t r = __vadd4(x, y) ^ __vsub2(x, y) ^ __vabsdiffu4(x, y) ^ __vmaxs2(x, y) ^ __vmins4(x, y) ^ __vavgu4(x, y) ^ __vcmpgtu4(x, y) ^
               __vseteq2(x, y) ^ __vaddss4(x, y) ^ __vsadu4(x, y) ^ __vneg2(x) ^ __vabs4(x) ^ __viaddmax_s32(x, y, t) ^ __vimax3_s16x2(x, y, t);
  uint32_t v;
  asm("vadd.s32.u32.s32.sat %0, %1.b0, %2.h1;" : "=r"(v) : "r"(x), "r"(y)); r ^= v;
  asm("vabsdiff.u32.u32.u32.add %0, %1.b3, %2.b2, %3;" : "=r"(v) : "r"(x), "r"(y), "r"(r)); r ^= v;
  asm("vmad.s32.u32.u32.shr15 %0, %1.h0, %2.h1, %3;" : "=r"(v) : "r"(x), "r"(y), "r"(r)); r ^= v;
  asm("vset.u32.u32.lt %0, %1.b1, %2.b2;" : "=r"(v) : "r"(x), "r"(y)); r ^= v;
  asm("vshl.u32.u32.u32.clamp %0, %1, %2.b0;" : "=r"(v) : "r"(x), "r"(y)); r ^= v;
  asm("vmin2.s32.s32.s32 %0.h10, %1.h32, %2.h20, %3;" : "=r"(v) : "r"(x), "r"(y), "r"(r)); r ^= v;
  asm("vadd4.u32.u32.u32.add %0.b20, %1.b7654, %2.b3210, %3;" : "=r"(v) : "r"(x), "r"(y), "r"(r)); r ^= v;
  a[t] = r;
}

extern "C" __global__ void carries(uint32_t *a) {
  int t = threadIdx.x;
  uint32_t x = a[t], y = a[t + 32], r, s, u, c;
  asm("add.cc.u32 %0, %4, %5;\n\taddc.cc.u32 %1, %4, %4;\n\tsub.cc.u32 %2, %5, %4;\n\tsubc.u32 %3, %4, 7;" : "=&r"(r), "=&r"(s), "=&r"(u), "=r"(c) : "r"(x), "r"(y));
  a[t] = r ^ s ^ u ^ c;
  asm("mad.lo.cc.u32 %0, %2, %3, %2; madc.hi.u32 %1, %2, %3, 0;" : "=&r"(r), "=r"(s) : "r"(x), "r"(y));
  asm("bfe.s32 %0, %2, 3, 7; bfi.b32 %1, %2, %3, 9, 11;" : "=&r"(u), "=r"(c) : "r"(x), "r"(y));
  a[t] ^= r ^ s ^ u ^ c;
  asm("bfind.shiftamt.u32 %0, %4; bfind.s32 %1, %4; szext.wrap.s32 %2, %4, %5; bmsk.clamp.b32 %3, %4, %5;" : "=&r"(r), "=&r"(s), "=&r"(u), "=r"(c) : "r"(x), "r"(y));
  asm("fns.b32 %0, %1, 0, 3; lop3.b32 %0, %0, %1, %2, 0xe8; slct.s32.s32 %0, %0, %1, %2; prmt.b32.f4e %0, %0, %1, 2; cnot.b32 %0, %0;" : "+r"(r) : "r"(x), "r"(y));
  a[t] ^= r ^ s ^ u ^ c;
}
