// Ground truth for the mbarrier word: what one thread's mbarrier operations do on sm_90a,
// the operation that faults included. Build and run on the card:
//
//   nvcc -O1 -std=c++17 -gencode=arch=compute_90a,code=sm_90a -o probe mbarrier_probe.cu
//   ./probe > probe.jsonl
//
// Every sequence of operations is run prefix by prefix, each prefix on a fresh word that ends
// with mbarrier.inval, which writes the word back; then a pause; then a record in host memory.
// So the number of records says which operation faulted, and every intermediate word is known.
// A second launch runs the sequence (up to the fault) with queries after each operation:
// test_wait.parity of 0 and 1, test_wait of every token so far, pending_count of the token.
// A fault kills the context, so workers are processes: one that faults is replaced.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cuda_runtime.h>

enum Op { INIT, ARRIVE, ARRIVE_NC, DROP, DROP_NC, EXPECT, ARRIVE_EXPECT, DROP_EXPECT, COMPLETE, INVAL,
          ARRIVE_S, DROP_S, ARRIVE_EXPECT_S, DROP_EXPECT_S, ST, CP, CP_NOINC, NOPS };
static const char *NAME[] = {"init", "arrive", "arrive.noComplete", "arrive_drop", "arrive_drop.noComplete",
  "expect_tx", "arrive.expect_tx", "arrive_drop.expect_tx", "complete_tx", "inval",
  "arrive _", "arrive_drop _", "arrive.expect_tx _", "arrive_drop.expect_tx _",
  "st", "cp.async.mbarrier.arrive", "cp.async.mbarrier.arrive.noinc"};
const int MAXS = 24;
struct Step { int op; uint64_t a; };
struct Rec { uint64_t word, token; uint32_t p0, p1, tests, pending; int hasToken; };
struct Out { volatile uint32_t nA, nB; Rec a[MAXS], b[MAXS]; };

__device__ uint64_t step(uint32_t A, Step s, uint32_t scratch, const uint4 *slow) {
  uint64_t t = 0; uint32_t a = (uint32_t)s.a;
  switch (s.op) {
  case INIT: asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(A), "r"(a) : "memory"); break;
  case ARRIVE: asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1], %2;" : "=l"(t) : "r"(A), "r"(a) : "memory"); break;
  case ARRIVE_NC: asm volatile("mbarrier.arrive.noComplete.shared::cta.b64 %0, [%1], %2;" : "=l"(t) : "r"(A), "r"(a) : "memory"); break;
  case DROP: asm volatile("mbarrier.arrive_drop.shared::cta.b64 %0, [%1], %2;" : "=l"(t) : "r"(A), "r"(a) : "memory"); break;
  case DROP_NC: asm volatile("mbarrier.arrive_drop.noComplete.shared::cta.b64 %0, [%1], %2;" : "=l"(t) : "r"(A), "r"(a) : "memory"); break;
  case EXPECT: asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(A), "r"(a) : "memory"); break;
  case ARRIVE_EXPECT: asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 %0, [%1], %2;" : "=l"(t) : "r"(A), "r"(a) : "memory"); break;
  case DROP_EXPECT: asm volatile("mbarrier.arrive_drop.expect_tx.shared::cta.b64 %0, [%1], %2;" : "=l"(t) : "r"(A), "r"(a) : "memory"); break;
  case COMPLETE: asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(A), "r"(a) : "memory"); break;
  case INVAL: asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(A) : "memory"); break;
  case ARRIVE_S: asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0], %1;" ::"r"(A), "r"(a) : "memory"); break;
  case DROP_S: asm volatile("mbarrier.arrive_drop.shared::cta.b64 _, [%0], %1;" ::"r"(A), "r"(a) : "memory"); break;
  case ARRIVE_EXPECT_S: asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(A), "r"(a) : "memory"); break;
  case DROP_EXPECT_S: asm volatile("mbarrier.arrive_drop.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(A), "r"(a) : "memory"); break;
  case ST: asm volatile("st.volatile.shared::cta.b64 [%0], %1;" ::"r"(A), "l"(s.a) : "memory"); break;
  case CP: asm volatile("cp.async.cg.shared.global [%1], [%2], 16; cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(A), "r"(scratch), "l"(slow) : "memory"); break;
  case CP_NOINC: asm volatile("cp.async.cg.shared.global [%1], [%2], 16; cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(A), "r"(scratch), "l"(slow) : "memory"); break;
  }
  return t;
}
__device__ bool hasToken(int op) { return (op >= ARRIVE && op <= DROP_NC) || op == ARRIVE_EXPECT || op == DROP_EXPECT; }
__device__ void pause(long long n) { long long t = clock64(); while (clock64() - t < n); }
__device__ uint64_t load(uint32_t A) { uint64_t w; asm volatile("ld.volatile.shared::cta.b64 %0,[%1];" : "=l"(w) : "r"(A) : "memory"); return w; }
__device__ uint32_t parity(uint32_t A, uint32_t p) { uint32_t w; asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p,[%1],%2; selp.u32 %0,1,0,p;}" : "=r"(w) : "r"(A), "r"(p) : "memory"); return w; }
__device__ uint32_t test(uint32_t A, uint64_t t) { uint32_t w; asm volatile("{.reg .pred p; mbarrier.test_wait.shared::cta.b64 p,[%1],%2; selp.u32 %0,1,0,p;}" : "=r"(w) : "r"(A), "l"(t) : "memory"); return w; }
__device__ uint32_t pendingCount(uint64_t t) { uint32_t n; asm volatile("mbarrier.pending_count.b64 %0,%1;" : "=r"(n) : "l"(t)); return n; }

__global__ void prefixes(const Step *s, int n, Out *o, const uint4 *slow) {
  __shared__ alignas(16) uint64_t bar[MAXS]; __shared__ uint4 scratch[1];
  uint32_t base = (uint32_t)__cvta_generic_to_shared(bar), sc = (uint32_t)__cvta_generic_to_shared(scratch);
  for (int k = 1; k <= n; k++) {
    uint32_t A = base + 8 * (k - 1); uint64_t t = 0;
    for (int i = 0; i < k; i++) t = step(A, s[i], sc, slow + 8 * (i + 24 * k));
    asm volatile("cp.async.wait_all;" ::: "memory");
    pause(8000);
    if (s[k - 1].op != INVAL && s[k - 1].op != ST) asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(A) : "memory");
    o->a[k - 1].word = load(A); o->a[k - 1].token = t; o->a[k - 1].hasToken = hasToken(s[k - 1].op);
    __threadfence_system(); o->nA = k; __threadfence_system();
  }
}
__global__ void queries(const Step *s, int n, Out *o) {
  __shared__ alignas(16) uint64_t bar; __shared__ uint4 scratch[1];
  uint32_t A = (uint32_t)__cvta_generic_to_shared(&bar);
  uint64_t tok[MAXS]; int nt = 0;
  for (int i = 0; i < n; i++) {
    uint64_t t = step(A, s[i], 0, 0); Rec r = {}; r.token = t; r.hasToken = hasToken(s[i].op);
    if (r.hasToken) { tok[nt++] = t; r.pending = pendingCount(t); }
    if (s[i].op != INVAL && s[i].op != ST) {
      r.p0 = parity(A, 0); r.p1 = parity(A, 1);
      for (int j = 0; j < nt; j++) r.tests |= test(A, tok[j]) << j;
    }
    o->b[i] = r; __threadfence_system(); o->nB = i + 1; __threadfence_system();
  }
}
struct Pure { uint64_t token; uint32_t count, t0, t1; };
__global__ void pure(Pure *p, int n) {
  __shared__ alignas(8) uint64_t bar[2]; uint32_t A = (uint32_t)__cvta_generic_to_shared(bar);
  step(A, {INIT, 3}, 0, 0); step(A + 8, {INIT, 3}, 0, 0); step(A + 8, {ARRIVE, 3}, 0, 0);
  for (int i = 0; i < n; i++) { p[i].count = pendingCount(p[i].token); p[i].t0 = test(A, p[i].token); p[i].t1 = test(A + 8, p[i].token); }
}
__global__ void parities(Pure *p, int n) {
  __shared__ alignas(8) uint64_t bar[2]; uint32_t A = (uint32_t)__cvta_generic_to_shared(bar);
  step(A, {INIT, 3}, 0, 0); step(A + 8, {INIT, 3}, 0, 0); step(A + 8, {ARRIVE, 3}, 0, 0);
  for (int i = 0; i < n; i++) { p[i].t0 = parity(A, p[i].token); p[i].t1 = parity(A + 8, p[i].token); }
}

struct Job { std::string group; std::vector<Step> s; bool cp = false; int predicted = 0, order = 0; };
struct Result { Out o; int done, fault, faultB; char err[64]; };
struct Shared { std::atomic<int> next, nretry, takeretry, faults; int retry[20000]; };
static std::vector<Job> jobs; static Shared *sh; static Result *res; static time_t deadline;

// --- the sequences ---
static std::vector<Step> parse(const char *text) {
  std::vector<Step> v; std::string all(text); size_t p = 0;
  while (p < all.size()) {
    size_t e = all.find(';', p); if (e == std::string::npos) e = all.size();
    std::string one = all.substr(p, e - p); p = e + 1;
    while (!one.empty() && one[0] == ' ') one.erase(0, 1);
    if (one.empty()) continue;
    size_t sp = one.rfind(' '); std::string name = one, arg = "0";
    if (sp != std::string::npos && one.substr(sp + 1) != "_") { name = one.substr(0, sp); arg = one.substr(sp + 1); }
    int op = -1; for (int i = 0; i < NOPS; i++) if (name == NAME[i]) op = i;
    if (op < 0) { fprintf(stderr, "bad op %s\n", one.c_str()); exit(2); }
    v.push_back({op, strtoull(arg.c_str(), 0, 0)});
  }
  return v;
}
static void add(const char *g, std::vector<Step> s) {
  Job j; j.group = g; j.s = s; for (auto &x : s) j.cp |= x.op == CP || x.op == CP_NOINC;
  if ((int)s.size() > MAXS) { fprintf(stderr, "too long\n"); exit(2); }
  jobs.push_back(j);
}
static uint64_t seed = 20240611; static uint64_t rnd() { seed ^= seed << 13; seed ^= seed >> 7; seed ^= seed << 17; return seed * 0x2545F4914F6CDD1DULL >> 16; }
static uint64_t below(uint64_t n) { return n ? rnd() % n : 0; }
template <class T, size_t N> static T pick(const T (&a)[N]) { return a[below(N)]; }
const int64_t L = 1 << 20;
static const uint64_t EDGE[] = {0, 1, 2, 3, L / 2, L - 2, L - 1, L, L + 1, 2 * L - 1, 2 * L, 2 * L + 1, 3 * L, 4 * L, 0x7fffffff, 0x80000000, 0x80000001, 0xfff00000, 0xfff00001, 0xfffffffe, 0xffffffff};
#include "probe_cases.h"

// A plain integer model keeps random sequences interesting; the card decides what is true.
static void randomSequence(const char *group, int wild) {
  std::vector<Step> s; int64_t pend, exp, tx = 0;
  auto complete = [&] { if (pend == 0 && tx == 0) pend = exp; };
  static const int64_t inits[] = {1, 1, 2, 2, 3, 4, 5, 32, 128, 1000, L / 2, L - 2, L - 1};
  auto init = [&] { exp = pend = pick(inits); tx = 0; s.push_back({INIT, (uint64_t)exp}); };
  init();
  int n = 6 + below(8);
  for (int i = 0; i < n; i++) {
    if (wild && below(100) < (uint64_t)wild) {
      static const int ops[] = {ARRIVE, ARRIVE, ARRIVE_NC, DROP, DROP_NC, EXPECT, EXPECT, ARRIVE_EXPECT, DROP_EXPECT, COMPLETE, COMPLETE, ARRIVE_S, DROP_S, ARRIVE_EXPECT_S, DROP_EXPECT_S};
      int op = pick(ops); uint64_t a; switch (below(5)) { case 0: a = pick(EDGE); break; case 1: a = pend + 1; break; case 2: a = exp + 1; break; case 3: a = (uint32_t)(L - tx); break; default: a = (uint32_t)(L + tx + below(3) - 1); }
      s.push_back({op, (uint32_t)a});
      bool drop = op == DROP || op == DROP_NC || op == DROP_EXPECT || op == DROP_S || op == DROP_EXPECT_S;
      bool etx = op == EXPECT || op == ARRIVE_EXPECT || op == DROP_EXPECT || op == ARRIVE_EXPECT_S || op == DROP_EXPECT_S;
      if (op == COMPLETE) tx -= a; else if (etx) tx += a;
      if (op != COMPLETE && op != EXPECT) { int64_t c = etx ? 1 : a; pend -= c; if (drop) exp -= c; }
      complete(); if (pend < 0 || exp < 0 || tx > L || tx < -L) break;
      continue;
    }
    int r = below(100);
    if (r < 3) { s.push_back({INVAL, 0}); if (below(2)) init(); }
    else if (r < 5) init();
    else if (r < 20) { int64_t room = L - 1 - tx; if (room < 0) room = 0; int64_t a; switch (below(5)) { case 0: a = room; break; case 1: a = tx < 0 ? -tx : 16; break; case 2: a = 0; break; default: a = below(room + 1); } if (a > L - 1) a = L - 1; if (a > room) a = room; s.push_back({EXPECT, (uint64_t)a}); tx += a; complete(); }
    else if (r < 40) { int64_t room = L - 1 + tx; if (room < 0) room = 0; int64_t a; switch (below(6)) { case 0: a = room; break; case 1: case 2: case 3: a = tx > 0 ? tx : 16; break; case 4: a = tx > 1 ? tx - 1 : 0; break; default: a = below(room + 1); } if (a > L - 1) a = L - 1; if (a > room) a = room; s.push_back({COMPLETE, (uint64_t)a}); tx -= a; complete(); }
    else if (pend >= 1) {
      bool drop = below(4) == 0 && exp > 1, sink = below(4) == 0;
      if (r < 60) { int64_t room = L - 1 - tx; if (room < 0) room = 0; int64_t a = below(3) ? below(room + 1) : below(2) ? room : tx < 0 ? -tx : 0; if (a > L - 1) a = L - 1; if (a > room) a = room; tx += a; pend--; if (drop) exp--; s.push_back({drop ? (sink ? DROP_EXPECT_S : DROP_EXPECT) : (sink ? ARRIVE_EXPECT_S : ARRIVE_EXPECT), (uint64_t)a}); }
      else { int64_t c; switch (below(5)) { case 0: c = 1; break; case 1: case 2: c = pend; break; case 3: c = pend > 1 ? pend - 1 : 1; break; default: c = 1 + below(pend); }
        if (drop && c > exp) c = exp;
        bool nc = below(4) == 0; int op = drop ? (nc ? DROP_NC : sink ? DROP_S : DROP) : (nc ? ARRIVE_NC : sink ? ARRIVE_S : ARRIVE);
        s.push_back({op, (uint64_t)c}); pend -= c; if (drop) exp -= c; }
      complete();
    } else if (tx > 0) { int64_t a = tx > L - 1 ? L - 1 : tx; s.push_back({COMPLETE, (uint64_t)a}); tx -= a; complete(); }
    else if (tx < 0) { int64_t a = tx < -(L - 1) ? L - 1 : -tx; s.push_back({EXPECT, (uint64_t)a}); tx += a; complete(); }
  }
  add(group, s);
}
static void rawSequence() { // any word at all in memory, then one operation
  static const uint64_t f20[] = {0, 1, 2, 3, L / 2, L - 3, L - 2, L - 1}, f21[] = {0, 0, 0, 1, 2, L - 1, L, L + 1, 2 * L - 2, 2 * L - 1, 2 * L - 16};
  auto field = [&] { return below(3) ? pick(f20) : below(L); };
  uint64_t pf = field(), ef = below(2) ? pf : field(), tf = below(4) ? pick(f21) : below(2 * L);
  uint64_t w = below(2) << 63 | pf << 43 | (below(6) == 0) * (1ull << 42) | tf << 21 | ef << 1 | (below(6) == 0);
  static const int ops[] = {ARRIVE, ARRIVE_NC, DROP, DROP_NC, EXPECT, ARRIVE_EXPECT, DROP_EXPECT, COMPLETE, ARRIVE_S, DROP_S, ARRIVE_EXPECT_S, DROP_EXPECT_S};
  int op = pick(ops); int64_t pend = (L - pf) % L, exp = (L - ef) % L, tx = (2 * L - tf) % (2 * L); if (tx >= L) tx -= 2 * L;
  uint64_t a; bool etx = op == EXPECT || op == ARRIVE_EXPECT || op == DROP_EXPECT || op == ARRIVE_EXPECT_S || op == DROP_EXPECT_S;
  switch (below(7)) { case 0: a = pick(EDGE); break; case 1: a = 1; break; case 2: a = below(32); break;
    case 3: a = etx ? (tx < 0 ? -tx : L - 1 - tx) : op == COMPLETE ? (tx > 0 ? tx : L - 1 + tx) : pend; break;
    case 4: a = etx ? L - tx : op == COMPLETE ? L + tx : pend + 1; break;
    case 5: a = etx || op == COMPLETE ? below(L) : exp; break; default: a = 0; }
  std::vector<Step> s = {{ST, w}, {op, (uint32_t)a}};
  if (below(2)) s.push_back({pick(ops), below(2)});
  add("raw", s);
}

// predict says at which step the card should fault, 0 for never. It only sorts the work: each fault
// costs a process and most of a second, so the sequences that run on go first.
static int predict(const std::vector<Step> &s) {
  const uint64_t F20 = L - 1, F21 = 2 * L - 1; uint64_t w = 0;
  for (size_t i = 0; i < s.size(); i++) {
    int op = s[i].op; uint64_t a = s[i].a;
    if (op == ST) { w = a; continue; }
    if (op == INIT) { uint32_t m = (uint32_t)L - (uint32_t)a; w = (uint64_t)(m << 11) << 32 | m << 1; continue; }
    if (op == INVAL || op >= CP) continue;
    bool drop = op == DROP || op == DROP_NC || op == DROP_EXPECT || op == DROP_S || op == DROP_EXPECT_S;
    bool etx = op == EXPECT || op == ARRIVE_EXPECT || op == DROP_EXPECT || op == ARRIVE_EXPECT_S || op == DROP_EXPECT_S;
    int64_t tx = w >> 21 & F21, c = op == EXPECT || op == COMPLETE ? 0 : etx ? 1 : a, pend = (L - (w >> 43 & F20)) % L;
    if (tx >= L) tx -= 2 * L;
    if (etx || op == COMPLETE) { if (a >= (uint64_t)L) return i + 1; tx += etx ? -(int64_t)a : (int64_t)a; if (tx < -L || tx >= L) return i + 1; }
    if (c > pend || (drop && c > (int64_t)((L - (w >> 1 & F20)) % L)) || w >> 42 & 1) return i + 1;
    uint64_t pf = ((w >> 43) + c) & F20, ef = ((w >> 1) + (drop ? c : 0)) & F20, ph = w >> 63;
    if (!pf && !tx) { ph ^= 1; pf = ef; }
    w = ph << 63 | pf << 43 | (tx & F21) << 21 | ef << 1 | (w & (1ull << 42 | 1));
  }
  return 0;
}
static void sortJobs() {
  for (auto &j : jobs) {
    j.predicted = predict(j.s); bool odd = j.s[0].op == ST;
    j.order = j.predicted ? 1000 + (int)below(1 << 20) : odd ? 3 : j.cp ? 2 : 1;
  }
  std::stable_sort(jobs.begin(), jobs.end(), [](const Job &a, const Job &b) { return a.order < b.order; });
}

// --- workers ---
static void worker() {
  Step *d; Out *h; uint4 *slow;
  if (cudaMalloc(&d, sizeof(Step) * MAXS) || cudaHostAlloc(&h, sizeof(Out), cudaHostAllocMapped) || cudaHostAlloc(&slow, 1 << 20, cudaHostAllocMapped)) _exit(4);
  for (;;) {
    if (time(0) > deadline) _exit(0);
    int j = sh->next.fetch_add(1); bool again = false;
    if (j >= (int)jobs.size()) { int r = sh->takeretry.load(); do { if (r >= sh->nretry.load()) _exit(0); } while (!sh->takeretry.compare_exchange_weak(r, r + 1)); j = sh->retry[r]; again = true; }
    auto &s = jobs[j].s; Result &o = res[j]; int n = s.size();
    if (cudaMemcpy(d, s.data(), n * sizeof(Step), cudaMemcpyHostToDevice)) _exit(4);
    memset((void *)h, 0, sizeof *h);
    if (!again && jobs[j].predicted > 1 && !jobs[j].cp) {
      queries<<<1, 1>>>(d, jobs[j].predicted - 1, h); cudaError_t e = cudaDeviceSynchronize();
      memcpy(o.o.b, h->b, sizeof o.o.b); o.o.nB = h->nB;
      if (e) { o.faultB = h->nB + 1; o.done = 1; _exit(3); }
      memset((void *)h, 0, sizeof *h);
    }
    if (!again) {
      prefixes<<<1, 1>>>(d, n, h, slow); cudaError_t e = cudaDeviceSynchronize();
      memcpy(o.o.a, h->a, sizeof o.o.a); o.o.nA = h->nA; o.done = 1;
      if (e) { o.fault = h->nA + 1; snprintf(o.err, sizeof o.err, "%s", cudaGetErrorString(e)); if (!jobs[j].cp && h->nA && o.fault != jobs[j].predicted) { int r = sh->nretry.load(); while (!sh->nretry.compare_exchange_weak(r, r + 1)); sh->retry[r] = j; } sh->faults++; _exit(3); }
    } else n = o.fault - 1;
    if (!jobs[j].cp) {
      queries<<<1, 1>>>(d, n, h); cudaError_t e = cudaDeviceSynchronize();
      memcpy(o.o.b, h->b, sizeof o.o.b); o.o.nB = h->nB;
      if (e) { o.faultB = h->nB + 1; _exit(3); }
    }
  }
}
static void print(FILE *f, int j) {
  auto &s = jobs[j].s; Result &o = res[j]; int n = o.fault ? o.fault - 1 : s.size(); bool cp = jobs[j].cp;
  fprintf(f, "{\"group\":\"%s\",\"ops\":[", jobs[j].group.c_str());
  for (size_t i = 0; i < s.size(); i++) { if (s[i].op == ST) fprintf(f, "%s\"st 0x%016llx\"", i ? "," : "", (unsigned long long)s[i].a); else if (s[i].op == INVAL || s[i].op >= CP) fprintf(f, "%s\"%s\"", i ? "," : "", NAME[s[i].op]); else fprintf(f, "%s\"%s %llu\"", i ? "," : "", NAME[s[i].op], (unsigned long long)s[i].a); }
  fprintf(f, "],\"words\":["); for (int i = 0; i < n; i++) fprintf(f, "%s\"%016llx\"", i ? "," : "", (unsigned long long)o.o.a[i].word);
  fprintf(f, "],\"tokens\":["); for (int i = 0; i < n; i++) if (o.o.a[i].hasToken) fprintf(f, "%s\"%016llx\"", i ? "," : "", (unsigned long long)o.o.a[i].token); else fprintf(f, "%s\"\"", i ? "," : "");
  fprintf(f, "]");
  if (!cp) {
    bool same = (int)o.o.nB == n; for (int i = 0; i < n; i++) same &= o.o.a[i].token == o.o.b[i].token;
    fprintf(f, ",\"parity\":["); for (int i = 0; i < n; i++) fprintf(f, "%s\"%u%u\"", i ? "," : "", o.o.b[i].p0, o.o.b[i].p1);
    fprintf(f, "],\"tests\":["); for (int i = 0; i < n; i++) fprintf(f, "%s%u", i ? "," : "", o.o.b[i].tests);
    fprintf(f, "],\"pending\":["); for (int i = 0; i < n; i++) fprintf(f, "%s%d", i ? "," : "", o.o.b[i].hasToken ? (int)o.o.b[i].pending : -1);
    fprintf(f, "]"); if (!same) fprintf(f, ",\"queryTokensDiffer\":true");
  }
  if (o.fault) fprintf(f, ",\"fault\":%d,\"error\":\"%s\"", o.fault, o.err);
  if (o.fault != jobs[j].predicted) fprintf(f, ",\"predicted\":%d", jobs[j].predicted);
  if (o.faultB) fprintf(f, ",\"queryFault\":%d", o.faultB);
  fprintf(f, "}\n");
}
int main(int argc, char **argv) {
  int seconds = argc > 1 ? atoi(argv[1]) : 120, workers = argc > 2 ? atoi(argv[2]) : 14, tame = argc > 3 ? atoi(argv[3]) : 2500;
  if (argc > 4) seed = strtoull(argv[4], 0, 0);
  deadline = time(0) + seconds;
  if (!getenv("ONLY_RANDOM")) addCases();
  for (int i = 0; i < 1500; i++) rawSequence();
  for (int i = 0; i < 600; i++) randomSequence("wild", 20);
  for (int i = 0; i < tame; i++) randomSequence("tame", 0);
  sortJobs();
  sh = (Shared *)mmap(0, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  res = (Result *)mmap(0, sizeof(Result) * jobs.size(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  time_t t0 = time(0); int live = 0, broken = 0;
  for (int i = 0; i < workers; i++) { if (!fork()) worker(); live++; }
  while (live) { int st; if (wait(&st) < 0) break; live--; int c = WIFEXITED(st) ? WEXITSTATUS(st) : 5; if (c >= 4) broken++; if (c && broken < 40 && time(0) <= deadline) { if (!fork()) worker(); live++; } }
  int done = 0; for (size_t j = 0; j < jobs.size(); j++) if (res[j].done) { print(stdout, j); done++; }
  fflush(stdout);
  fprintf(stderr, "jobs %zu done %d faults %d retries %d/%d broken %d seconds %ld\n", jobs.size(), done, sh->faults.load(), sh->takeretry.load(), sh->nretry.load(), broken, (long)(time(0) - t0));
  Pure *p; const int N = 96; if (cudaMallocManaged(&p, sizeof(Pure) * N)) return 1;
  for (int i = 0; i < N; i++) p[i].token = i < 64 ? 1ull << i : rnd() << 40 ^ rnd() << 20 ^ rnd();
  pure<<<1, 1>>>(p, N); cudaError_t e = cudaDeviceSynchronize(); if (e) { fprintf(stderr, "pure: %s\n", cudaGetErrorString(e)); return 1; }
  for (int i = 0; i < N; i++) printf("{\"group\":\"token\",\"token\":\"%016llx\",\"count\":%u,\"phase0\":%u,\"phase1\":%u}\n", (unsigned long long)p[i].token, p[i].count, p[i].t0, p[i].t1);
  for (int i = 0; i < 16; i++) p[i].token = i < 8 ? i : EDGE[5 + i];
  parities<<<1, 1>>>(p, 16); e = cudaDeviceSynchronize(); if (e) { fprintf(stderr, "parities: %s\n", cudaGetErrorString(e)); return 1; }
  for (int i = 0; i < 16; i++) printf("{\"group\":\"parity\",\"parity\":%llu,\"phase0\":%u,\"phase1\":%u}\n", (unsigned long long)p[i].token, p[i].t0, p[i].t1);
  return 0;
}
