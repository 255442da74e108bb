// f16, bf16, fp8: arithmetic, comparisons, conversions with their roundings.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

extern "C" __global__ void halves(const __half2 *a, const __half2 *b, __half2 *c, float *f) {
  int i = threadIdx.x;
  __half2 x = a[i], y = b[i];
  __half2 r = __hfma2(x, y, __hadd2(x, y));
  r = __hadd2_sat(r, __hmul2(x, y));
  r = __hfma2_relu(r, x, y);
  r = __hmax2(r, __hmin2_nan(x, y));
  r = __hadd2(r, __hgt2(x, y));
  r = __hsub2(r, h2exp2(x));
  r = __hadd2(r, h2sqrt(__habs2(y)));
  r = __h2div(r, __hneg2(y));
  if (__hbeq2(x, y)) r = h2tanh_approx(r);
  c[i] = r;
  __half h = __low2half(r);
  f[i] = __half2float(h) + __half2int_rd(h) + __half2uint_rz(h) + (float)(__half)__int2half_ru(i) + __half2float(hsin(h)) + __half2float(hlog(h));
  f[i + 32] = __half2float(__float2half_rz(f[i])) + __half2float(__double2half(f[i]));
}

extern "C" __global__ void brains(const __nv_bfloat162 *a, const __nv_bfloat162 *b, __nv_bfloat162 *c, float *f) {
  int i = threadIdx.x;
  __nv_bfloat162 x = a[i], y = b[i];
  __nv_bfloat162 r = __hfma2(x, y, __hadd2(x, y));
  r = __hmax2_nan(r, __hmul2(x, y));
  r = __hsub2(r, h2exp(x));
  r = __hfma2_relu(r, y, x);
  c[i] = r;
  f[i] = __low2float(r) + __bfloat162float(__float2bfloat16_rd(f[i])) + __bfloat162float(__int2bfloat16_rn(i)) +
         (float)__bfloat162ll_rd(__high2bfloat16(r));
  f[i + 32] = __hlt(__low2bfloat16(x), __high2bfloat16(y)) ? 1.0f : 0.0f;
}

extern "C" __global__ void eighths(const float2 *in, unsigned short *out, float2 *back, __half2 *h) {
  int i = threadIdx.x;
  __nv_fp8x2_storage_t e4 = __nv_cvt_float2_to_fp8x2(in[i], __NV_SATFINITE, __NV_E4M3);
  __nv_fp8x2_storage_t e5 = __nv_cvt_float2_to_fp8x2(in[i], __NV_NOSAT, __NV_E5M2);
  out[2 * i] = e4;
  out[2 * i + 1] = e5;
  h[i] = __half2(__nv_cvt_fp8x2_to_halfraw2(e4, __NV_E4M3));
  __nv_fp8x4_e4m3 q(make_float4(in[i].x, in[i].y, 1.0f, -2.0f));
  float4 u = (float4)q;
  back[i] = make_float2(u.x + u.z, u.y + u.w);
  float t;
  asm("{ .reg .b32 r; cvt.rna.tf32.f32 r, %1; mov.b32 %0, r; }" : "=f"(t) : "f"(in[i].x));
  back[i + 32] = make_float2(t, 0);
}
