// Runs a plan of tensor maps on a GPU: what the driver's encoders give, and
// what the copy engine does with them. See README.md.
//
//   nvcc -std=c++17 -arch=sm_90a -o tensormap tensormap.cu
//   tensormap encode PLAN > RESULTS      a line each: CUresult, 256 hex digits
//   tensormap copy PLAN TILES > RESULTS  a line each; raw bytes go to TILES
//
// A line of PLAN is a list of numbers:
//
//   mode type rank address dim*5 stride*4 box*5 lower*3 upper*3 channels pixels
//   elementstride*5 interleave swizzle l2 fill
//
// and for copy also: store coordinate*5 offset*3 destination bytes. There the
// address counts from the start of the buffer, the destination from a 1024-byte
// boundary of shared memory, and bytes is how much of that is looked at.
#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

typedef long long ll;
enum { BUF = 1 << 20, WINDOW = 192 * 1024, NMAP = 35, NCOPY = 11 };

struct Case { ll v[NMAP + NCOPY]; };

static std::vector<Case> readPlan(const char *path, int n) {
  std::vector<Case> cases;
  FILE *f = fopen(path, "r");
  if (!f) { perror(path); exit(1); }
  for (;;) {
    Case c;
    int i = 0;
    while (i < n && fscanf(f, "%lld", &c.v[i]) == 1) i++;
    if (i == 0) break;
    if (i != n) { fprintf(stderr, "short line in %s\n", path); exit(1); }
    cases.push_back(c);
  }
  fclose(f);
  return cases;
}

typedef CUresult (*Tiled)(CUtensorMap *, int, uint32_t, void *, const uint64_t *, const uint64_t *, const uint32_t *, const uint32_t *, int, int, int, int);
typedef CUresult (*Im2col)(CUtensorMap *, int, uint32_t, void *, const uint64_t *, const uint64_t *, const int *, const int *, uint32_t, uint32_t, const uint32_t *, int, int, int, int);
static Tiled tiled;
static Im2col im2col;

static int encode(const Case &c, uint64_t base, CUtensorMap *m) {
  const ll *p = c.v;
  int mode = *p++, type = *p++, rank = *p++;
  uint64_t addr = base + (uint64_t)*p++, dim[5], stride[4];
  uint32_t box[5], es[5];
  int lo[3], up[3];
  for (int i = 0; i < 5; i++) dim[i] = *p++;
  for (int i = 0; i < 4; i++) stride[i] = *p++;
  for (int i = 0; i < 5; i++) box[i] = *p++;
  for (int i = 0; i < 3; i++) lo[i] = *p++;
  for (int i = 0; i < 3; i++) up[i] = *p++;
  uint32_t ch = *p++, px = *p++;
  for (int i = 0; i < 5; i++) es[i] = *p++;
  int il = p[0], sw = p[1], l2 = p[2], fill = p[3];
  memset(m, 0xcc, sizeof *m);
  if (mode) return im2col(m, type, rank, (void *)addr, dim, stride, lo, up, ch, px, es, il, sw, l2, fill);
  return tiled(m, type, rank, (void *)addr, dim, stride, box, es, il, sw, l2, fill);
}

// A word of the buffer: hardly two alike, and among them the halfway cases of
// TF32, subnormals, infinities and NaNs.
static uint32_t mix(uint32_t i) {
  uint32_t x = i;
  x ^= x >> 16; x *= 0x7feb352d; x ^= x >> 15; x *= 0x846ca68b; x ^= x >> 16;
  if (i % 5 == 0) x = (x & ~0x1fffu) | 0x1000;
  if (i % 31 == 0) x &= ~0x7f800000u;
  if (i % 37 == 0) x |= 0x7f800000u;
  if (i % 74 == 0) x &= 0xff800000u;
  return x;
}

struct Args { int c[5]; int o[3]; int dst, bytes; };

#define C1 "{%2}"
#define C2 "{%2,%3}"
#define C3 "{%2,%3,%4}"
#define C4 "{%2,%3,%4,%5}"
#define C5 "{%2,%3,%4,%5,%6}"
#define IN "r"(s), "l"(m), "r"(a.c[0]), "r"(a.c[1]), "r"(a.c[2]), "r"(a.c[3]), "r"(a.c[4]), "r"(bar), "h"((short)a.o[0]), "h"((short)a.o[1]), "h"((short)a.o[2])
#define LOAD(N, C) asm volatile("cp.async.bulk.tensor." N ".shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, " C "], [%7];" ::IN : "memory")
#define LOADI(N, C, O) asm volatile("cp.async.bulk.tensor." N ".shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, " C "], [%7], " O ";" ::IN : "memory")
#define STORE(N, C) asm volatile("cp.async.bulk.tensor." N ".global.shared::cta.tile.bulk_group [%1, " C "], [%0];" ::IN : "memory")
#define STOREI(N, C) asm volatile("cp.async.bulk.tensor." N ".global.shared::cta.im2col_no_offs.bulk_group [%1, " C "], [%0];" ::IN : "memory")

// One kernel, the form chosen at run time: form = store*16 + mode*8 + rank.
__global__ void copy(const __grid_constant__ CUtensorMap map, int form, Args a, unsigned char *out, unsigned long long *word) {
  extern __shared__ unsigned char sm[];
  uint32_t base = (uint32_t)__cvta_generic_to_shared(sm), bar = (base + 1023) & ~1023u, tile = bar + 1024;
  unsigned char *t = sm + (tile - base);
  for (int i = threadIdx.x; i < a.bytes; i += blockDim.x) {
    uint32_t x = (i >> 2) * 0x9e3779b1u + 0x1234567u;
    x ^= x >> 15; x *= 0x2c1b3c6d; x ^= x >> 13;
    t[i] = form & 16 ? (x >> 8 * (i & 3)) & 0xff : 0xa5;
  }
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1; fence.proxy.async;" ::"r"(bar) : "memory");
    uint32_t s = tile + a.dst;
    const void *m = &map;
    switch (form) {
    case 1: LOAD("1d", C1); break;
    case 2: LOAD("2d", C2); break;
    case 3: LOAD("3d", C3); break;
    case 4: LOAD("4d", C4); break;
    case 5: LOAD("5d", C5); break;
    case 11: LOADI("3d", C3, "{%8}"); break;
    case 12: LOADI("4d", C4, "{%8,%9}"); break;
    case 13: LOADI("5d", C5, "{%8,%9,%10}"); break;
    case 17: STORE("1d", C1); break;
    case 18: STORE("2d", C2); break;
    case 19: STORE("3d", C3); break;
    case 20: STORE("4d", C4); break;
    case 21: STORE("5d", C5); break;
    case 27: STOREI("3d", C3); break;
    case 28: STOREI("4d", C4); break;
    case 29: STOREI("5d", C5); break;
    }
    unsigned long long w = 0;
    if (form & 16) {
      asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
    } else {  // nobody arrives, so the bytes stay in the word
      long long since = clock64();
      while (clock64() - since < 40000) {}
    }
    // A live word need not be in memory; mbarrier.inval writes it back.
    asm volatile("mbarrier.inval.shared.b64 [%1]; ld.volatile.shared.b64 %0, [%1];" : "=l"(w) : "r"(bar) : "memory");
    *word = form & 16 ? 0 : w;
    asm volatile("fence.proxy.async;" ::: "memory");
  }
  __syncthreads();
  if (!(form & 16))
    for (int i = threadIdx.x; i < a.bytes; i += blockDim.x) out[i] = t[i];
}

static int child(const std::vector<Case> &cases, size_t from, FILE *tiles) {
  std::vector<uint32_t> pattern(BUF / 4);
  for (uint32_t i = 0; i < BUF / 4; i++) pattern[i] = mix(i + 1);
  unsigned char *buf, *out;
  unsigned long long *word;
  cudaMalloc(&buf, BUF);
  cudaMalloc(&out, WINDOW);
  cudaMalloc(&word, 8);
  cudaFuncSetAttribute(copy, cudaFuncAttributeMaxDynamicSharedMemorySize, WINDOW + 2048);
  std::vector<unsigned char> host(BUF);
  for (size_t i = from; i < cases.size(); i++) {
    const ll *p = cases[i].v;
    CUtensorMap m;
    int r = encode(cases[i], (uint64_t)buf, &m);
    if (r) { printf("%zu refused %d\n", i, r); continue; }
    Args a;
    int store = p[NMAP];
    for (int k = 0; k < 5; k++) a.c[k] = p[NMAP + 1 + k];
    for (int k = 0; k < 3; k++) a.o[k] = p[NMAP + 6 + k];
    a.dst = p[NMAP + 9];
    a.bytes = p[NMAP + 10];
    if (store) cudaMemset(buf, 0, BUF);
    else cudaMemcpy(buf, pattern.data(), BUF, cudaMemcpyHostToDevice);
    copy<<<1, 128, WINDOW + 2048>>>(m, store * 16 + p[0] * 8 + p[2], a, out, word);
    cudaError_t e = cudaDeviceSynchronize();
    if (e) { printf("%zu fault %d %s\n", i, e, cudaGetErrorName(e)); fflush(stdout); return 1; }
    unsigned long long w;
    cudaMemcpy(&w, word, 8, cudaMemcpyDeviceToHost);
    size_t n = store ? BUF : a.bytes;
    cudaMemcpy(host.data(), store ? buf : out, n, cudaMemcpyDeviceToHost);
    uint64_t h = 0xcbf29ce484222325;  // FNV-1a
    for (size_t k = 0; k < n; k++) h = (h ^ host[k]) * 0x100000001b3;
    printf("%zu ok %016llx %016llx\n", i, w, (unsigned long long)h);
    fflush(stdout);
    if (tiles) fwrite(host.data(), 1, store ? BUF / 16 : n, tiles), fflush(tiles);
  }
  return 0;
}

int main(int argc, char **argv) {
  void *lib = dlopen("libcuda.so.1", RTLD_NOW);
  tiled = (Tiled)dlsym(lib, "cuTensorMapEncodeTiled");
  im2col = (Im2col)dlsym(lib, "cuTensorMapEncodeIm2col");
  std::string verb = argv[1];
  std::vector<Case> cases = readPlan(argv[2], verb == "copy" ? NMAP + NCOPY : NMAP);
  if (verb == "encode") {
    cudaFree(0);
    alignas(64) CUtensorMap m;
    for (auto &c : cases) {
      int r = encode(c, 0, &m);
      printf("%d ", r);
      if (r == 0) for (int k = 0; k < 128; k++) printf("%02x", ((unsigned char *)&m)[k]);
      printf("\n");
    }
    return 0;
  }
  // A fault ends the context, so each stretch between two is a process.
  FILE *tiles = argc > 3 ? fopen(argv[3], "wb") : nullptr;
  for (size_t from = 0; from < cases.size();) {
    fflush(stdout);
    int fd[2];
    if (pipe(fd)) return 1;
    if (fork() == 0) {
      dup2(fd[1], 1);
      close(fd[0]);
      int r = child(cases, from, tiles);
      fflush(stdout);
      _exit(r);
    }
    close(fd[1]);
    FILE *in = fdopen(fd[0], "r");
    char line[256];
    size_t last = from;
    while (fgets(line, sizeof line, in)) { fputs(line, stdout); last = strtoul(line, nullptr, 10) + 1; }
    fclose(in);
    wait(nullptr);
    from = last == from ? from + 1 : last;
  }
}
