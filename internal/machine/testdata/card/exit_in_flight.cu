// Does an SM hand a CTA's shared memory to the next CTA while an asynchronous operation of the CTA
// that has exited still uses it?
#include <cstdio>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <algorithm>
#include <vector>
#include <cuda.h>
#include <cuda_runtime.h>
#define CHECK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { printf("ERROR %s line %d: %s\n", #x, __LINE__, cudaGetErrorString(e_)); exit(1); } } while (0)

struct Rec { unsigned long long start, end; unsigned sm, wrong; };
enum { NONE, STORE_WAIT, STORE_NOWAIT, STORE_NOCOMMIT, TENSOR_NOWAIT, REDUCE_NOWAIT, CONTROL_OVERWRITE,
       LOAD_NOWAIT, LOAD_WAIT, CPASYNC_NOWAIT, LOAD_CONTROL };
static const char *names[] = {"no store", "bulk store, wait_group.read 0, exit", "bulk store, commit, exit",
  "bulk store, exit (no commit)", "tensor store, commit, exit", "bulk reduction add.u32, commit, exit",
  "CONTROL: bulk store, overwritten by its own CTA at once", "bulk load, exit (not waited for)",
  "bulk load, waited for, exit", "cp.async, exit (not waited for)",
  "CONTROL: bulk load, own CTA writes and checks while it is in flight"};

__device__ __forceinline__ unsigned long long now() { unsigned long long t; asm volatile("mov.u64 %0, %%clock64;" : "=l"(t) :: "memory"); return t; }

// bytes: shared memory of the CTA that is used, a multiple of 8192. out: bytes for each CTA. hold: cycles between the fill and the check.
__global__ void k(int mode, unsigned bytes, uint32_t *out, const uint32_t *poison, Rec *rec, int hold,
                  const __grid_constant__ CUtensorMap map) {
  extern __shared__ __align__(1024) uint32_t smem[];
  __shared__ __align__(8) unsigned long long bar;
  unsigned long long t0 = now();
  unsigned words = bytes / 4, tag = (blockIdx.x + 1) * 0x9e3779b1u;
  for (unsigned i = threadIdx.x; i < words / 4; i += blockDim.x) ((uint4 *)smem)[i] = make_uint4(tag, tag, tag, tag);
  uint32_t base = (uint32_t)__cvta_generic_to_shared(smem), b = (uint32_t)__cvta_generic_to_shared(&bar);
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(b) : "memory");
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  unsigned wrong = 0;
  if (mode >= LOAD_NOWAIT) {
    if (mode != LOAD_CONTROL) {
      unsigned long long t = now(); while (now() - t < (unsigned)hold) ;
      for (unsigned i = threadIdx.x; i < words; i += blockDim.x) { uint32_t v = *(volatile uint32_t *)(smem + i); if (v != tag) wrong++; }
      __syncthreads();
    }
    if (mode == CPASYNC_NOWAIT) {
      for (unsigned i = threadIdx.x; i < words / 4; i += blockDim.x)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(base + i * 16), "l"(poison + (size_t)(blockIdx.x % 512) * words + i * 4) : "memory");
      asm volatile("cp.async.commit_group;" ::: "memory");
    } else if (threadIdx.x == 0) {
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(b), "r"(bytes) : "memory");
      for (unsigned at = 0; at < bytes; at += 8192)
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
          :: "r"(base + at), "l"((const char *)poison + (size_t)(blockIdx.x % 512) * bytes + at), "r"(8192u), "r"(b) : "memory");
    }
    if (mode == LOAD_WAIT) {
      uint32_t ok = 0;
      while (!ok) asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(ok) : "r"(b) : "memory");
    }
    if (mode == LOAD_CONTROL) {
      __syncthreads();
      for (unsigned i = threadIdx.x; i < words; i += blockDim.x) *(volatile uint32_t *)(smem + i) = tag;
      __syncthreads();
      unsigned long long t = now(); while (now() - t < (unsigned)hold) ;
      for (unsigned i = threadIdx.x; i < words; i += blockDim.x) { uint32_t v = *(volatile uint32_t *)(smem + i); if (v != tag) wrong++; }
      uint32_t ok = 0;
      while (!ok) asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(ok) : "r"(b) : "memory");
    }
  } else if (mode != NONE) {
    char *to = (char *)out + (size_t)blockIdx.x * bytes;
    if (threadIdx.x == 0) {
      for (unsigned at = 0; at < bytes; at += 8192) {
        if (mode == TENSOR_NOWAIT)
          asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];"
            :: "l"(&map), "r"(0), "r"((int)(((size_t)blockIdx.x * bytes + at) / 256)), "r"(base + at) : "memory");
        else if (mode == REDUCE_NOWAIT)
          asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], %2;" :: "l"(to + at), "r"(base + at), "r"(8192u) : "memory");
        else
          asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" :: "l"(to + at), "r"(base + at), "r"(8192u) : "memory");
      }
      if (mode != STORE_NOCOMMIT) asm volatile("cp.async.bulk.commit_group;" ::: "memory");
      if (mode == STORE_WAIT) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
    if (mode == STORE_WAIT) __syncthreads();
    if (mode == CONTROL_OVERWRITE) {
      __syncthreads();
      for (unsigned i = threadIdx.x; i < words / 4; i += blockDim.x) ((volatile uint32_t *)smem)[i * 4] = 0xdeadbeef;
    }
  }
  if (wrong) atomicAdd(&rec[blockIdx.x].wrong, wrong);
  if (threadIdx.x == 0) {
    unsigned sm; asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    rec[blockIdx.x].start = t0; rec[blockIdx.x].sm = sm; rec[blockIdx.x].end = now();
  }
}

// Another kernel, whose CTAs come between those of the first and write all of their shared memory.
__global__ void spoil(unsigned bytes) {
  extern __shared__ __align__(1024) uint32_t smem[];
  for (unsigned i = threadIdx.x; i < bytes / 16; i += blockDim.x) ((uint4 *)smem)[i] = make_uint4(0xbadbad, 0xbadbad, 0xbadbad, 0xbadbad);
  __syncthreads();
  if (((volatile uint32_t *)smem)[threadIdx.x] == 7) printf("?");
}

static double median(std::vector<double> v) { if (v.empty()) return -1; std::sort(v.begin(), v.end()); return v[v.size() / 2]; }

int main() {
  cudaDeviceProp p; CHECK(cudaGetDeviceProperties(&p, 0));
  printf("%s, %d SMs\n", p.name, p.multiProcessorCount);
  CHECK(cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 224 * 1024));
  CHECK(cudaFuncSetAttribute(spoil, cudaFuncAttributeMaxDynamicSharedMemorySize, 224 * 1024));
  void *fn = nullptr; cudaDriverEntryPointQueryResult q;
  CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &fn, 12000, cudaEnableDefault, &q));
  typedef CUresult (*enc_t)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
  const int ctas = 132 * 40;
  unsigned most = 216 * 1024;
  uint32_t *out, *poison; Rec *rec;
  CHECK(cudaMalloc(&out, (size_t)ctas * most)); CHECK(cudaMalloc(&poison, (size_t)512 * most)); CHECK(cudaMalloc(&rec, ctas * sizeof(Rec)));
  CHECK(cudaMemset(poison, 0x5a, (size_t)512 * most));
  std::vector<uint32_t> host((size_t)ctas * most / 4); std::vector<Rec> r(ctas);
  cudaStream_t s1, s2; CHECK(cudaStreamCreate(&s1)); CHECK(cudaStreamCreate(&s2));
  unsigned sizes[] = {216 * 1024, 72 * 1024, 24 * 1024};
  printf("gap: cycles from the last instruction of a CTA to the first of the next one in its place (median; only where one CTA fills the SM)\n");
  for (unsigned bytes : sizes)
    for (int with = 0; with < 2; with++)
      for (int mode = 0; mode <= LOAD_CONTROL; mode++) {
        if (with && (mode == NONE || mode == STORE_WAIT || mode >= LOAD_WAIT)) continue;
        CUtensorMap map; memset(&map, 0, sizeof map);
        cuuint64_t dims[2] = {64, (size_t)ctas * bytes / 256}, strides[1] = {256}; cuuint32_t box[2] = {64, 32}, es[2] = {1, 1};
        CUresult cr = ((enc_t)fn)(&map, CU_TENSOR_MAP_DATA_TYPE_UINT32, 2, out, dims, strides, box, es, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
        if (cr) { printf("encode %d\n", cr); return 1; }
        size_t wrong = 0, badctas = 0; std::vector<double> gaps;
        int runs = 3;
        for (int run = 0; run < runs; run++) {
          CHECK(cudaMemset(rec, 0, ctas * sizeof(Rec))); CHECK(cudaMemset(out, 0, (size_t)ctas * bytes)); CHECK(cudaDeviceSynchronize());
          k<<<ctas, 512, bytes, s1>>>(mode, bytes, out, poison, rec, 20000, map);
          if (with) for (int i = 0; i < 20; i++) spoil<<<132 * 4, 512, bytes, s2>>>(bytes);
          CHECK(cudaDeviceSynchronize());
          CHECK(cudaMemcpy(r.data(), rec, ctas * sizeof(Rec), cudaMemcpyDeviceToHost));
          if (mode >= LOAD_NOWAIT) { for (auto &x : r) { wrong += 4ull * x.wrong; badctas += x.wrong != 0; } }
          else if (mode != NONE && run == 0) {
            CHECK(cudaMemcpy(host.data(), out, (size_t)ctas * bytes, cudaMemcpyDeviceToHost));
            for (int c = 0; c < ctas; c++) {
              uint32_t tag = (c + 1) * 0x9e3779b1u; size_t w = 0;
              for (unsigned i = 0; i < bytes / 4; i++) w += host[(size_t)c * (bytes / 4) + i] != tag;
              wrong += 4 * w; badctas += w != 0;
            }
          }
          if (!with && bytes > 114 * 1024) {
            std::sort(r.begin(), r.end(), [](const Rec &a, const Rec &b) { return a.sm != b.sm ? a.sm < b.sm : a.start < b.start; });
            for (int i = 1; i < ctas; i++) if (r[i].sm == r[i - 1].sm) gaps.push_back((double)r[i].start - (double)r[i - 1].end);
          }
        }
        printf("%6u bytes a CTA%s: %-68s wrong bytes %zu in %zu CTAs of %d", bytes, with ? ", another kernel beside it" : "", names[mode], wrong, badctas, mode >= LOAD_NOWAIT ? ctas * runs : ctas);
        if (!gaps.empty()) { std::sort(gaps.begin(), gaps.end()); printf(", gap least %.0f median %.0f", gaps[0], gaps[gaps.size() / 2]); }
        printf("\n"); fflush(stdout);
      }
}
