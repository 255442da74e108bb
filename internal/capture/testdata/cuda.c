// A driver of CUDA for the tests of the shim: memory of the host, and three kernels that are
// functions of C. Like the real one it refuses what may not be done while a stream captures.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int R;
typedef void *H;
typedef unsigned long long P;

static struct { P base; size_t size; int ctx; } allocs[4096];
static int nallocs;
static int ctx = 1;          // the current context
static int capturing, mode;  // a stream captures; what this thread may do then
static int waiting;          // a launch of `wait` has not ended
static int still;            // `add` leaves `count` as it is
static int broken;           // copies fail
static int contexts;         // that were destroyed
static int gone;             // the process ends: the driver is no more
static int lost;             // the driver has lost its card
static unsigned most = 48 << 10; // bytes of shared memory that a launch may have
static struct { uint32_t count; } variable = {7};
static const char *const names[] = {"add", "wait", "go"};

R cuInit(unsigned f) { return 0; }
R cuDriverGetVersion(int *v) { return *v = 13000, 0; }
R cuDeviceGetName(char *s, int n, int d) { return snprintf(s, n, "a card made of C"), 0; }
R cuDeviceGetAttribute(int *v, int a, int d) { return *v = a == 75 ? 9 : 0, 0; }
R cuCtxGetCurrent(H *c) { return *c = (H)(intptr_t)ctx, 0; }
R cuCtxSetCurrent(H c) { return ctx = (intptr_t)c, 0; }
R cuCtxGetDevice(int *d) { return *d = ctx - 1, 0; }
R cuCtxGetId(H c, unsigned long long *id) { return getenv("OLD_DRIVER") ? 801 : (*id = 8 * contexts + ctx, 0); }
R cuCtxGetLimit(size_t *v, int l) { return *v = 8 << 20, 0; }
R cuThreadExchangeStreamCaptureMode(int *m) { int old = mode; return mode = *m, *m = old, 0; }
R cuStreamCreate(H *s, unsigned f) { return *s = malloc(8), 0; }
R cuStreamIsCapturing(H s, int *c) { return *c = capturing, lost ? 304 : 0; }
R cuStreamBeginCapture(H s) { return capturing = 1, 0; }
R cuStreamEndCapture(H s) { return capturing = 0; }
R cuEventCreate(H *e, unsigned f) { return *e = calloc(1, 8), *(int *)*e = contexts, 0; }
static int dead(H e) {
	if (!gone && e != (H)24 && *(int *)e != contexts) abort(); // as the real one, which reads what is no more
	return gone ? 4 : 0;
}
static H recorded;
R cuEventRecord(H e, H s) { return dead(e) ? dead(e) : (recorded = s, 0); }
R cuEventQuery(H e) { return dead(e) ? dead(e) : waiting && recorded == (H)1 ? 600 : 0; } // other streams have ended

// The context is destroyed, with all that belongs to it; the next one has its handle.
static R reset(int d) { return contexts++, nallocs = 0; }
static R destroy(H c) { return contexts++, nallocs = 0; }
static R first(H c) { return 1; } // what cuCtxDestroy was before CUDA 4
R cuDevicePrimaryCtxReset(int d) { return reset(d); }
R cuDevicePrimaryCtxReset_v2(int d) { return reset(d); }
R cuDevicePrimaryCtxRelease_v2(int d) { return contexts++, nallocs = 0; }
R cuDevicePrimaryCtxGetState(int d, unsigned *flags, int *active) { return *flags = *active = 0; }
R cuCtxDestroy(H c) { return first(c); }
R cuCtxDestroy_v2(H c) { return destroy(c); }
R cuGetProcAddress_v2(const char *name, void **f, int version, uint64_t flags, int *status) {
	if (!strcmp(name, "cuDevicePrimaryCtxReset")) return *f = (void *)reset, 0;
	if (!strcmp(name, "cuCtxDestroy")) return *f = version < 4000 ? (void *)first : (void *)destroy, 0;
	return 500;
}
R cuTestReset(void) { return contexts++, nallocs = 0; } // in a way of its own
R cuTestLose(void) { return lost = 1, 0; }
static void end(void) { gone = 1, usleep(300000); }
R cuTestEnd(void) { return atexit(end); }

R cuMemAlloc_v2(P *p, size_t n) {
	if (capturing && mode != 2) return 900;
	allocs[nallocs].base = *p = (P)(uintptr_t)aligned_alloc(256, (n + 255) / 256 * 256);
	allocs[nallocs].ctx = ctx, allocs[nallocs++].size = n;
	return 0;
}
R cuMemFree_v2(P p) {
	for (int i = 0; i < nallocs; i++)
		if (allocs[i].base == p) allocs[i] = allocs[--nallocs];
	return free((void *)(uintptr_t)p), 0;
}
R cuMemcpyHtoD_v2(P to, const void *from, size_t n) { return memcpy((void *)(uintptr_t)to, from, n), 0; }
R cuMemcpyDtoH_v2(void *to, P from, size_t n) { return memcpy(to, (void *)(uintptr_t)from, n), 0; }
R cuMemcpyDtoHAsync_v2(void *to, P from, size_t n, H s) {
	if (broken || (capturing && mode != 2)) return 999;
	return memcpy(to, (void *)(uintptr_t)from, n), 0;
}
R cuPointerGetAttribute(void *v, int a, P p) {
	for (int i = 0; i < nallocs; i++)
		if (p - allocs[i].base < allocs[i].size) switch (a) {
			case 2: return *(unsigned *)v = 2, 0;
			case 8: return *(unsigned *)v = 0, 0;
			case 9: return *(int *)v = allocs[i].ctx - 1, 0;
			case 11: return *(P *)v = allocs[i].base, 0;
			case 12: return *(size_t *)v = allocs[i].size, 0;
			default: return 1;
			}
	return 1;
}

static const char *image; // the last one that was loaded
R cuModuleLoadData(H *m, const void *i) {
	image = i, *m = malloc(8);
	return getenv("OLD_PTX") && strstr(image, ".version 8.3") ? 222 : 0; // a driver that does not know it
}
const char *cuTestImage(void) { return image; }

// A linker of code: what comes out is the header of an ELF file, with a number behind it. Like
// the real one it refuses PTX for a card that is not there.
typedef struct {
	char header[64];
	int number;
} Cubin;
static Cubin linked = {"\177ELF"};
R cuLinkCreate_v2(unsigned n, void *o, void *v, H *state) { return *state = malloc(8), 0; }
R cuLinkAddData_v2(H state, int type, const char *data, size_t size, const char *name, unsigned n, void *o, void *v) {
	return strstr(data, "sm_100") ? 209 : data[size - 1];
}
R cuLinkComplete(H state, void **cubin, size_t *size) {
	linked.header[0x28] = sizeof linked, linked.number++;
	return *cubin = &linked, *size = sizeof linked, 0;
}
R cuLinkDestroy(H state) { return linked.number = -1, free(state), 0; }
R cuModuleUnload(H m) { return free(m), 0; }
static H module;
static const char *handles[3]; // of functions: each context has the same ones, in the order of asking
R cuModuleGetFunction(H *f, H m, const char *name) {
	static int n, of;
	module = m;
	if (of != contexts) of = contexts, n = 0, memset(handles, 0, sizeof handles);
	for (int i = 0; i < n; i++)
		if (!strcmp(name, handles[i])) return *f = (H)&handles[i], 0;
	for (int i = 0; i < 3; i++)
		if (!strcmp(name, names[i])) return handles[n] = names[i], *f = (H)&handles[n++], 0;
	return 500;
}
R cuModuleGetGlobal_v2(P *p, size_t *n, H m, const char *name) { return *p = (P)(uintptr_t)&variable, *n = 4, 0; }

// A kernel of a library is the same in all contexts, and has a function in each.
typedef struct { const char *name; int context; } Function;
static Function kernel, functions[16];
R cuLibraryLoadData(H *l, const void *i, int *a, void **b, unsigned c, int *d, void **e, unsigned f) { return *l = &kernel, 0; }
R cuLibraryGetGlobal(P *p, size_t *n, H l, const char *name) { return *p = (P)(uintptr_t)&variable, *n = 4, 0; }
R cuLibraryGetKernel(H *k, H l, const char *name) { return kernel.name = name, *k = &kernel, 0; }
R cuKernelGetLibrary(H *l, H k) { return *l = k, k == &kernel ? 0 : 400; }
R cuKernelGetName(const char **s, H k) { return *s = kernel.name, 0; }
R cuKernelGetFunction(H *f, H k) { return functions[contexts] = (Function){kernel.name, contexts}, *f = &functions[contexts], 0; }
static void alive(H f) {
	if ((Function *)f >= functions && (Function *)f < functions + 16 && ((Function *)f)->context != contexts) abort();
}

R cuFuncGetModule(H *m, H f) { return *m = module, 0; }
R cuFuncGetName(const char **s, H f) { return *s = *(const char **)f, 0; }
R cuFuncGetAttribute(int *v, int a, H f) { return alive(f), *v = a == 4 ? 16 : 0, f == &kernel ? 400 : 0; }

// A test of drivers before CUDA 12.4 goes without.
R cuFuncGetParamInfo(H f, size_t i, size_t *at, size_t *n) {
	if (alive(f), getenv("OLD_DRIVER")) return 801;
	if (f == &kernel) return 400;
	if (i > 1) return 1;
	return *at = 8 * i, *n = i ? 4 : 8, 0;
}

R cuLaunchKernel(H f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, H stream, void **params, void **extra) {
	const char *name = *(const char **)f;
	if (capturing) return 0;
	if (shared > most) return 1;
	if (!strcmp(name, "wait")) waiting = 1;
	if (!strcmp(name, "go")) waiting = 0;
	if (!strcmp(name, "add")) {
		uint32_t *p = *(uint32_t **)params[0], n = *(uint32_t *)params[1];
		for (uint32_t i = 0; i < n; i++) p[i] += variable.count;
		if (!still) variable.count++;
	}
	return 0;
}
typedef struct { unsigned grid[3], block[3], shared; H stream; void *attrs; unsigned nattrs; } Config;
R cuLaunchKernelEx(const Config *c, H f, void **params, void **extra) { return cuLaunchKernel(f, c->grid[0], c->grid[1], c->grid[2], c->block[0], c->block[1], c->block[2], c->shared, c->stream, params, extra); }
R cuMemsetD32Async(P p, unsigned v, size_t n, H s) {
	while (n-- > 0) ((unsigned *)(uintptr_t)p)[n] = v;
	return 0;
}
R cuTestStill(void) { return still = 1, 0; }
// A card without swizzles above 128B (3) and without types above 12.
R cuTensorMapEncodeTiled(char *map, int type, unsigned rank, void *at, const uint64_t *shape, const uint64_t *strides, const unsigned *box, const unsigned *steps, int interleave, int swizzle, int l2, int fill) {
	if (type > 12 || swizzle > 3) return 1;
	return memset(map, swizzle, 128), 0;
}
R cuTensorMapEncodeIm2colWide(char *map, int type, unsigned rank, void *at, const uint64_t *shape, const uint64_t *strides, int lower, int upper, unsigned channels, unsigned pixels, const unsigned *steps, int interleave, int mode, int swizzle, int l2, int fill) { return 1; }
R cuFuncSetAttribute(H f, int which, int value) { return which != 8 || value > 227 << 10 ? 1 : (most = value, 0); }
R cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, H f, int threads, size_t dynamic) { return *n = 32, 0; }
R cuTestBreak(void) { return broken = 1, 0; }

#include "graph.c"
