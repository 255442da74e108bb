// What an sm_90 card does where the PTX ISA leaves member masks, the operands of
// st.async and red.async, tokens and setmaxnreg undefined. One question a process:
//
//	nvcc -gencode arch=compute_90a,code=sm_90a -o masks masks.cu
//	for i in $(seq 0 $(./masks count)); do timeout 20 ./masks $i || echo "question $i: exit status $?"; done
//
// Every spin is bounded by the clock, so that what never comes is told as such; a
// question that ends by the timeout is one in which the instruction itself hangs.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__device__ uint32_t sa(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ void linger(long long cycles) { long long t = clock64(); while (clock64() - t < cycles) {} }
#define LATE 20000000LL

// --- member masks ---
__global__ void warpsync_exited(int *out) { // members of the mask have exited before
  if (threadIdx.x >= 16) return;
  linger(100000);
  asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
  out[threadIdx.x] = 1;
}
__global__ void warpsync_leaving(int *out) { // they exit later
  long long t = clock64();
  if (threadIdx.x >= 16) { linger(LATE); return; }
  asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
  out[threadIdx.x] = (int)((clock64() - t) / 1000);
}
__global__ void warpsync_outside(int *out, unsigned mask, int odd) { // executed by lanes outside of the mask, alone
  if ((threadIdx.x & 1) != odd) return;
  asm volatile("bar.warp.sync %0;" ::"r"(mask) : "memory");
  out[threadIdx.x] = 1;
}
__global__ void warpsync_both(int *out, unsigned mask) { // by members, the odd ones late, and others
  __shared__ volatile int s[32];
  s[threadIdx.x] = -1;
  __syncwarp();
  if (threadIdx.x & 1) linger(100000);
  s[threadIdx.x] = threadIdx.x;
  asm volatile("bar.warp.sync %0;" ::"r"(mask) : "memory");
  out[threadIdx.x] = s[threadIdx.x ^ 1];
}
__global__ void elect_exited(int *out, int low) { // members have exited, the lowest among them or not
  if (low ? threadIdx.x < 16 : threadIdx.x >= 16) return;
  linger(100000);
  unsigned d, p;
  asm volatile("{.reg .pred q; elect.sync %0|q, 0xffffffff; selp.u32 %1,1,0,q;}" : "=r"(d), "=r"(p)::"memory");
  out[threadIdx.x] = (int)(d * 2 + p);
}
__global__ void elect_leaving(int *out) {
  long long t = clock64();
  if (threadIdx.x < 16) { linger(LATE); return; }
  unsigned d, p;
  asm volatile("{.reg .pred q; elect.sync %0|q, 0xffffffff; selp.u32 %1,1,0,q;}" : "=r"(d), "=r"(p)::"memory");
  out[threadIdx.x] = (int)(d * 2 + p);
  out[threadIdx.x - 16] = (int)((clock64() - t) / 1000);
}
__global__ void elect_outside(int *out, unsigned mask) {
  unsigned d, p;
  asm volatile("{.reg .pred q; elect.sync %0|q, %2; selp.u32 %1,1,0,q;}" : "=r"(d), "=r"(p) : "r"(mask) : "memory");
  out[threadIdx.x] = (int)(d * 2 + p);
}
__global__ void vote_outside(int *out, unsigned mask) {
  unsigned d;
  asm volatile("{.reg .pred q; setp.ne.u32 q, %2, 99; vote.sync.ballot.b32 %0, q, %1;}" : "=r"(d) : "r"(mask), "r"(threadIdx.x) : "memory");
  out[threadIdx.x] = (int)d;
}
__global__ void redux_outside(int *out, unsigned mask) {
  unsigned d;
  asm volatile("redux.sync.add.u32 %0, %2, %1;" : "=r"(d) : "r"(mask), "r"(1u << (threadIdx.x & 30)) : "memory");
  out[threadIdx.x] = (int)d;
}
__global__ void match_outside(int *out, unsigned mask) {
  unsigned d;
  asm volatile("match.any.sync.b32 %0, %2, %1;" : "=r"(d) : "r"(mask), "r"(threadIdx.x & 1) : "memory");
  out[threadIdx.x] = (int)d;
}
__global__ void shfl_outside(int *out, unsigned mask, int src) { // all 32 lanes, of which the mask has some
  unsigned d;
  asm volatile("shfl.sync.idx.b32 %0, %2, %3, 31, %1;" : "=r"(d) : "r"(mask), "r"(threadIdx.x + 100), "r"(src) : "memory");
  out[threadIdx.x] = (int)d;
}
__global__ void shfl_elsewhere(int *out, int exits) { // lanes 0 to 15 take from lane 20, which has exited or is elsewhere
  unsigned v = threadIdx.x + 100, d = v;
  if (threadIdx.x >= 16) { if (exits) return; linger(1000000); }
  else {
    linger(10000);
    if (exits) asm volatile("shfl.sync.idx.b32 %0, %1, 20, 31, 0xffffffff;" : "=r"(d) : "r"(v) : "memory");
    else asm volatile("shfl.sync.idx.b32 %0, %1, 20, 31, 0xffff;" : "=r"(d) : "r"(v) : "memory");
  }
  out[threadIdx.x] = (int)d;
}

// --- st.async, red.async ---
template <int RED> __global__ void async_store(int *out, int data, int bar) { // the rank of each: 0 own, 1 peer
  __shared__ unsigned v;
  __shared__ alignas(8) uint64_t b;
  unsigned r, n;
  asm volatile("mov.u32 %0,%cluster_ctarank;" : "=r"(r));
  asm volatile("mov.u32 %0,%cluster_nctarank;" : "=r"(n));
  v = 1000;
  asm volatile("mbarrier.init.shared.b64 [%0],1;" ::"r"(sa(&b)) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _,[%0],4;" ::"r"(sa(&b)) : "memory");
  asm volatile("barrier.cluster.arrive;barrier.cluster.wait;" ::: "memory");
  unsigned pv, pb, dv = (r + data) % n, db = (r + bar) % n;
  asm volatile("mapa.shared::cluster.u32 %0,%1,%2;" : "=r"(pv) : "r"(sa(&v)), "r"(dv));
  asm volatile("mapa.shared::cluster.u32 %0,%1,%2;" : "=r"(pb) : "r"(sa(&b)), "r"(db));
  if (RED) asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0],%1,[%2];" ::"r"(pv), "r"(100 + r), "r"(pb) : "memory");
  else asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0],%1,[%2];" ::"r"(pv), "r"(100 + r), "r"(pb) : "memory");
  int ok = 0;
  for (long long t = clock64(); !ok && clock64() - t < LATE;)
    asm volatile("{.reg .pred p; mbarrier.test_wait.parity.acquire.cluster.shared::cta.b64 p,[%1],0; selp.b32 %0,1,0,p;}" : "=r"(ok) : "r"(sa(&b)) : "memory");
  asm volatile("barrier.cluster.arrive;barrier.cluster.wait;" ::: "memory");
  out[r * 2] = ok;
  out[r * 2 + 1] = (int)*(volatile unsigned *)&v;
}

// --- tokens ---
__global__ void token_other(int *out) {
  __shared__ alignas(8) uint64_t a, b;
  uint64_t ta, tb, tn;
  unsigned w, c;
  asm volatile("mbarrier.init.shared.b64 [%0],1;" ::"r"(sa(&a)) : "memory");
  asm volatile("mbarrier.init.shared.b64 [%0],2;" ::"r"(sa(&b)) : "memory");
  asm volatile("mbarrier.arrive.shared.b64 %0,[%1];" : "=l"(ta) : "r"(sa(&a)) : "memory"); // completes phase 0 of a
  asm volatile("mbarrier.arrive.noComplete.shared.b64 %0,[%1],1;" : "=l"(tn) : "r"(sa(&b)) : "memory");
  asm volatile("{.reg .pred p; mbarrier.test_wait.shared.b64 p,[%1],%2; selp.u32 %0,1,0,p;}" : "=r"(w) : "r"(sa(&b)), "l"(ta) : "memory");
  out[0] = (int)w; // a's token at b, whose phase is open
  asm volatile("mbarrier.arrive.shared.b64 %0,[%1];" : "=l"(tb) : "r"(sa(&b)) : "memory"); // completes phase 0 of b
  asm volatile("{.reg .pred p; mbarrier.test_wait.shared.b64 p,[%1],%2; selp.u32 %0,1,0,p;}" : "=r"(w) : "r"(sa(&b)), "l"(ta) : "memory");
  out[1] = (int)w; // and complete
  asm volatile("mbarrier.pending_count.b64 %0,%1;" : "=r"(c) : "l"(ta));
  out[2] = (int)c;
  asm volatile("mbarrier.pending_count.b64 %0,%1;" : "=r"(c) : "l"(tn));
  out[3] = (int)c;
  asm volatile("mbarrier.pending_count.b64 %0,%1;" : "=r"(c) : "l"(tb));
  out[4] = (int)c;
}

// --- setmaxnreg ---
__global__ void __maxnreg__(128) regs_twice(int *out, int late) { // dec and inc, with nothing between
  int w = threadIdx.x / 32;
  if (w == late) linger(1000000);
  asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
  asm volatile("setmaxnreg.inc.sync.aligned.u32 80;");
  asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
  asm volatile("setmaxnreg.inc.sync.aligned.u32 120;");
  out[threadIdx.x / 4] = 1;
}

// --- barriers ---
template <int ALIGNED> __global__ void part_barrier(int *out, int exits) { // 16 lanes of each warp; the others exit at once, or after a while
  long long t = clock64();
  if ((threadIdx.x & 31) >= 16) { if (!exits) linger(LATE); return; }
  if (ALIGNED) asm volatile("barrier.sync.aligned 0;" ::: "memory");
  else asm volatile("barrier.sync 0;" ::: "memory");
  out[threadIdx.x / 32 * 16 + (threadIdx.x & 15)] = (int)((clock64() - t) / 1000);
}

static int *g;
static int h[64];
static void told(const char *what, int n) {
  cudaError_t e = cudaDeviceSynchronize();
  cudaMemcpy(h, g, 4 * n, cudaMemcpyDeviceToHost);
  printf("%s: %s:", what, cudaGetErrorString(e));
  for (int i = 0; i < n; i++) printf(" %d", h[i]);
  printf("\n");
}
static void cluster(void *f, int size, int a, int b, const char *what) {
  cudaLaunchConfig_t c = {};
  c.gridDim = size; c.blockDim = 1;
  cudaLaunchAttribute at;
  at.id = cudaLaunchAttributeClusterDimension;
  at.val.clusterDim.x = size; at.val.clusterDim.y = 1; at.val.clusterDim.z = 1;
  c.attrs = &at; c.numAttrs = 1;
  void *args[] = {&g, &a, &b};
  cudaLaunchKernelExC(&c, f, args);
  told(what, 2 * size);
}
int main(int argc, char **argv) {
  const int count = 35;
  if (argc < 2 || argv[1][0] == 'c') { printf("%d\n", count - 1); return 0; }
  cudaMalloc(&g, 256);
  cudaMemset(g, 255, 256);
  setvbuf(stdout, 0, _IONBF, 0);
  switch (atoi(argv[1])) {
  case 0: warpsync_exited<<<1, 32>>>(g); told("bar.warp.sync -1 by lanes 0-15, 16-31 exited before", 16); break;
  case 1: warpsync_leaving<<<1, 32>>>(g); told("bar.warp.sync -1 by lanes 0-15, 16-31 exit after 20,000 kcycles: kcycles", 16); break;
  case 2: warpsync_outside<<<1, 32>>>(g, 0x55555555, 1); told("bar.warp.sync 0x55555555 by the odd lanes alone", 32); break;
  case 3: warpsync_outside<<<1, 32>>>(g, 0x5555, 1); told("bar.warp.sync 0x5555 by the odd lanes alone", 32); break;
  case 4: warpsync_both<<<1, 32>>>(g, 0xffff); told("bar.warp.sync 0xffff by 32 lanes, the odd ones late, reads of lane^1", 32); break;
  case 5: warpsync_both<<<1, 32>>>(g, 0x55555555); told("bar.warp.sync 0x55555555 by 32 lanes, the odd ones late, reads of lane^1", 32); break;
  case 6: elect_exited<<<1, 32>>>(g, 0); told("elect.sync -1 by lanes 0-15, 16-31 exited: 2*leader+led", 32); break;
  case 7: elect_exited<<<1, 32>>>(g, 1); told("elect.sync -1 by lanes 16-31, 0-15 exited: 2*leader+led", 32); break;
  case 8: elect_leaving<<<1, 32>>>(g); told("elect.sync -1 by lanes 16-31, 0-15 exit after 20,000 kcycles: kcycles, then 2*leader+led", 32); break;
  case 9: elect_outside<<<1, 32>>>(g, 0xffff0000); told("elect.sync 0xffff0000 by 32 lanes: 2*leader+led", 32); break;
  case 10: vote_outside<<<1, 32>>>(g, 0xffff); told("vote.sync.ballot 0xffff by 32 lanes", 32); break;
  case 11: redux_outside<<<1, 32>>>(g, 0xffff); told("redux.sync.add of 1<<(lane&30), 0xffff, by 32 lanes", 32); break;
  case 12: match_outside<<<1, 32>>>(g, 0xffff); told("match.any.sync of lane&1, 0xffff, by 32 lanes", 32); break;
  case 13: shfl_outside<<<1, 32>>>(g, 0xffff, 20); told("shfl.sync.idx from lane 20 (holds 120), 0xffff, by 32 lanes", 32); break;
  case 14: shfl_outside<<<1, 32>>>(g, 0xffff, 3); told("shfl.sync.idx from lane 3 (holds 103), 0xffff, by 32 lanes", 32); break;
  case 15: shfl_elsewhere<<<1, 32>>>(g, 1); told("shfl.sync.idx from lane 20, which has exited, -1, by lanes 0-15", 16); break;
  case 16: shfl_elsewhere<<<1, 32>>>(g, 0); told("shfl.sync.idx from lane 20, which is elsewhere, 0xffff, by lanes 0-15", 16); break;
  case 17: cluster((void *)async_store<0>, 2, 1, 1, "st.async, data and mbarrier in the peer: complete, value, of both CTAs"); break;
  case 18: cluster((void *)async_store<0>, 2, 0, 0, "st.async, both in the own CTA"); break;
  case 19: cluster((void *)async_store<0>, 2, 1, 0, "st.async, data in the peer, mbarrier in the own CTA"); break;
  case 20: cluster((void *)async_store<0>, 2, 0, 1, "st.async, data in the own CTA, mbarrier in the peer"); break;
  case 21: cluster((void *)async_store<0>, 1, 0, 0, "st.async, a cluster of one"); break;
  case 22: cluster((void *)async_store<1>, 2, 1, 1, "red.async, data (1000) and mbarrier in the peer: complete, value, of both CTAs"); break;
  case 23: cluster((void *)async_store<1>, 2, 0, 0, "red.async, both in the own CTA"); break;
  case 24: cluster((void *)async_store<1>, 2, 1, 0, "red.async, data in the peer, mbarrier in the own CTA"); break;
  case 25: cluster((void *)async_store<1>, 2, 0, 1, "red.async, data in the own CTA, mbarrier in the peer"); break;
  case 26: cluster((void *)async_store<1>, 1, 0, 0, "red.async, a cluster of one"); break;
  case 27: token_other<<<1, 1>>>(g); told("a token of another mbarrier: test while open, while complete; pending_count of an arrive that left 0 of 1, of arrive.noComplete of 2, of the last arrive of 2", 5); break;
  case 28: regs_twice<<<1, 128>>>(g, 4); told("setmaxnreg dec 40, inc 80, dec 40, inc 120, nothing between", 32); break;
  case 29: regs_twice<<<1, 128>>>(g, 3); told("the same, warp 3 late by 1,000 kcycles", 32); break;
  case 30: part_barrier<0><<<1, 64>>>(g, 1); told("barrier.sync by 16 lanes of each warp, the others exit: kcycles", 32); break;
  case 31: part_barrier<0><<<1, 64>>>(g, 0); told("barrier.sync by 16 lanes of each warp, the others exit after 20,000 kcycles", 32); break;
  case 32: part_barrier<1><<<1, 64>>>(g, 1); told("barrier.sync.aligned by 16 lanes of each warp, the others exit", 32); break;
  case 33: part_barrier<1><<<1, 64>>>(g, 0); told("barrier.sync.aligned by 16 lanes of each warp, the others exit after 20,000 kcycles", 32); break;
  case 34: elect_outside<<<1, 32>>>(g, 0x0000fff0); told("elect.sync 0xfff0 by 32 lanes: 2*leader+led", 32); break;
  }
  return 0;
}
