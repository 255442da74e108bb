// Floating point: the maths library in double and single, every rounding.
extern "C" __global__ void doubles(double *a) {
  int t = threadIdx.x;
  double x = a[t], y = a[t + 32];
  double r = exp(x) + log(x) + sqrt(x) + x / y + rsqrt(y) + cbrt(x) + fma(x, y, 1.0);
  r += pow(x, y) + tanh(x) + erf(x) + fmod(x, y) + floor(x) + rint(y) + trunc(x) + copysign(x, y) + fmin(x, y) + fabs(x);
  r += __dadd_rd(x, y) + __dmul_ru(x, y) + __ddiv_rz(x, y) + __dsqrt_rn(x) + __fma_rd(x, y, r) + __drcp_ru(x);
  r += (double)(long long)x + (double)(unsigned)y + __double2int_rd(x) + __longlong_as_double(__double_as_longlong(y) ^ 1);
  a[t] = isnan(r) || isinf(r) ? 0 : r;
}
extern "C" __global__ void sines(double *a, float *f) {
  double s, c;
  sincos(a[threadIdx.x], &s, &c);
  a[threadIdx.x] = s * c;
  f[threadIdx.x] = sinf(f[threadIdx.x]) + cosf(f[threadIdx.x] * 2);
}
extern "C" __global__ void singles(float *a) {
  int t = threadIdx.x;
  float x = a[t], y = a[t + 32];
  float r = expf(x) + logf(x) + sqrtf(x) + x / y + rsqrtf(y) + powf(x, y) + tanhf(x) + fmaf(x, y, 1);
  r += __expf(x) + __logf(y) + __sinf(x) + __cosf(y) + __powf(x, y) + __fdividef(x, y) + __saturatef(x) + __tanf(x);
  r += __fadd_rd(x, y) + __fmul_ru(x, y) + __fdiv_rz(x, y) + __fsqrt_rd(x) + __frcp_rn(y) + __fmaf_rz(x, y, r) + __frsqrt_rn(x);
  r += fmaxf(fminf(x, y), -0.0f) + floorf(x) + ceilf(y) + roundf(x) + nearbyintf(y) + fabsf(x) + ldexpf(x, t) + hypotf(x, y);
  r += __float2int_rn(x) + __float2uint_rz(y) + (float)(long long)x + __int_as_float(__float_as_int(y) & 0x7fffff) + __uint2float_rd(t);
  r += (signed char)x + (unsigned short)y + (float)(double)x;
  a[t] = signbit(r) ? -r : r;
}
