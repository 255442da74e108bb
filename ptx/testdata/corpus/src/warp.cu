// Warp collectives: shuffle, vote, match, reduce, elect.
extern "C" __global__ void shuffles(int *out, double *d) {
  unsigned full = 0xffffffffu;
  int v = threadIdx.x * 3;
  v += __shfl_sync(full, v, 5);
  v += __shfl_up_sync(full, v, 1);
  v += __shfl_down_sync(full, v, 2, 16);
  v += __shfl_xor_sync(full, v, 8);
  double x = __shfl_xor_sync(full, (double)v, 4);
  long long y = __shfl_sync(full, (long long)v << 20, v & 7, 8);
  out[threadIdx.x] = v + (int)y;
  d[threadIdx.x] = x;
}

extern "C" __global__ void votes(unsigned *out, const int *in) {
  unsigned full = 0xffffffffu;
  int v = in[threadIdx.x];
  unsigned r = __ballot_sync(full, v > 3);
  r += __any_sync(full, v == 7);
  r += __all_sync(full, v < 100);
  int pred;
  r += __match_any_sync(full, v);
  r += __match_all_sync(full, v, &pred) + pred;
  r += __match_any_sync(full, (unsigned long long)v << 33);
  if (v & 1) r += __activemask();
  __syncwarp(full);
  out[threadIdx.x] = r + __syncthreads_count(v > 1) + __syncthreads_and(v > 2) + __syncthreads_or(v == 3);
}

#if __CUDA_ARCH__ >= 800
extern "C" __global__ void reduces(unsigned *out, const int *in) {
  unsigned full = 0xffffffffu;
  int v = in[threadIdx.x];
  unsigned r = __reduce_add_sync(full, v);
  r += __reduce_min_sync(full, v) + __reduce_max_sync(full, (unsigned)v);
  r += __reduce_and_sync(full, (unsigned)v) + __reduce_or_sync(full, (unsigned)v) + __reduce_xor_sync(full, (unsigned)v);
  out[threadIdx.x] = r;
}
#endif

#if __CUDA_ARCH__ >= 900
extern "C" __global__ void elected(unsigned *out) {
  unsigned lane, is;
  asm volatile("{ .reg .pred p; elect.sync %0|p, %2; @p mov.u32 %1, 1; @!p mov.u32 %1, 0; }" : "=r"(lane), "=r"(is) : "r"(0xffffffffu));
  if (is) out[threadIdx.x] = lane;
}
#endif
