// Two programs of NVRTC, linked by nvJitLink ("jit 90") or by the driver ("cu 90").
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>
#include <cuda.h>
#include <nvrtc.h>
#include <nvJitLink.h>
static std::vector<char> ptx(const char *src, const char *name, const std::string &arch) {
  nvrtcProgram p; nvrtcCreateProgram(&p, src, name, 0, 0, 0);
  std::string a = "-arch=compute_" + arch; const char *o[] = {a.c_str(), "-rdc=true"};
  if (nvrtcCompileProgram(p, 2, o)) { puts("nvrtc"); exit(9); }
  size_t n; nvrtcGetPTXSize(p, &n); std::vector<char> v(n); nvrtcGetPTX(p, v.data()); return v;
}
int main(int, char **argv) {
  std::string arch = argv[2];
  auto a = ptx("extern __device__ float bias; extern __device__ float f(float); extern \"C\" __global__ void k(float *x) { x[threadIdx.x] = f(x[threadIdx.x]) + bias; }", "a.cu", arch);
  auto b = ptx("__device__ float bias = 7; __device__ float f(float x) { return 2 * x; }", "b.cu", arch);
  cuInit(0); CUdevice d; cuDeviceGet(&d, 0); CUcontext c; cuDevicePrimaryCtxRetain(&c, d); cuCtxSetCurrent(c);
  CUmodule m = 0; CUfunction f; std::vector<char> code;
  int r = 0;
  if (!strcmp(argv[1], "cu")) {
    CUlinkState s; void *out; size_t n;
    r |= cuLinkCreate(0, 0, 0, &s);
    r |= cuLinkAddData(s, CU_JIT_INPUT_PTX, a.data(), a.size(), "a", 0, 0, 0);
    r |= cuLinkAddData(s, CU_JIT_INPUT_PTX, b.data(), b.size(), "b", 0, 0, 0);
    r |= cuLinkComplete(s, &out, &n);
    if (!r) code.assign((char *)out, (char *)out + n);
    cuLinkDestroy(s);
  } else {
    nvJitLinkHandle h; std::string o = "-arch=sm_" + arch; const char *os[] = {o.c_str()}; size_t n;
    r |= nvJitLinkCreate(&h, 1, os);
    r |= nvJitLinkAddData(h, NVJITLINK_INPUT_PTX, a.data(), a.size(), "a");
    r |= nvJitLinkAddData(h, NVJITLINK_INPUT_PTX, b.data(), b.size(), "b");
    r |= nvJitLinkComplete(h);
    r |= nvJitLinkGetLinkedCubinSize(h, &n); code.resize(n); r |= nvJitLinkGetLinkedCubin(h, code.data());
    nvJitLinkDestroy(&h);
  }
  printf("link %d\n", r);
  r = cuModuleLoadData(&m, code.data()); printf("load %d\n", r);
  r = cuModuleGetFunction(&f, m, "k"); printf("get %d\n", r);
  CUdeviceptr x; cuMemAlloc(&x, 512); std::vector<float> h(128); for (int i = 0; i < 128; i++) h[i] = i;
  cuMemcpyHtoD(x, h.data(), 512); void *args[] = {&x};
  r = cuLaunchKernel(f, 1, 1, 1, 128, 1, 1, 0, 0, args, 0); cuCtxSynchronize();
  cuMemcpyDtoH(h.data(), x, 512); printf("%d %g\n", r, h[9]); return r;
}
