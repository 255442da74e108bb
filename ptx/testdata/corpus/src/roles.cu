// Warp-specialized roles with setmaxnreg, named barriers, programmatic launch.
#include <cstdint>

extern "C" __global__ void __launch_bounds__(256, 1) registers(const float *in, float *out, int rounds) {
  __shared__ float buf[2][128];
  if (threadIdx.x < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    for (int r = 0; r < rounds; r++) {
      asm volatile("bar.sync %0, 256;" ::"r"(1 + (r & 1)) : "memory");
      buf[r & 1][threadIdx.x] = in[r * 128 + threadIdx.x];
      asm volatile("bar.arrive %0, 256;" ::"r"(3 + (r & 1)) : "memory");
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    asm volatile("barrier.cta.arrive 1, 256; barrier.arrive 2, 256;" ::: "memory");
    float sum = 0;
    for (int r = 0; r < rounds; r++) {
      asm volatile("bar.sync %0, 256;" ::"r"(3 + (r & 1)) : "memory");
      sum += buf[r & 1][threadIdx.x - 128];
      if (r + 2 < rounds) asm volatile("bar.arrive %0, 256;" ::"r"(1 + (r & 1)) : "memory");
    }
    out[threadIdx.x - 128] = sum;
  }
}

extern "C" __global__ void dependent(const float *in, float *out) {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  float v = in[threadIdx.x];
  asm volatile("griddepcontrol.launch_dependents;");
  int c;
  asm volatile("{ .reg .pred p, q; setp.gt.f32 p, %1, 0f00000000; barrier.cta.red.popc.u32 %0, 0, p; bar.red.and.pred q, 0, p; @q add.s32 %0, %0, 1; }" : "=r"(c) : "f"(v) : "memory");
  out[threadIdx.x] = v + c;
}
