// Programs for the tests of the shim, by name.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int R;
typedef void *H;
typedef unsigned long long P;
R cuInit(unsigned), cuMemAlloc_v2(P *, size_t), cuMemcpyHtoD_v2(P, const void *, size_t), cuMemcpyDtoH_v2(void *, P, size_t), cuModuleLoadData(H *, const void *), cuModuleUnload(H);
R cuModuleGetFunction(H *, H, const char *), cuCtxSetCurrent(H), cuStreamBeginCapture(H), cuStreamEndCapture(H), cuTestBreak(void), cuTestStill(void), cuTestLose(void), cuTestEnd(void), cuTestReset(void), cuDevicePrimaryCtxReset_v2(int), cuDevicePrimaryCtxRelease_v2(int), cuCtxDestroy_v2(H), cuLibraryLoadData(H *, const void *, int *, void **, unsigned, int *, void **, unsigned), cuLibraryGetKernel(H *, H, const char *), cuGetProcAddress_v2(const char *, void **, int, uint64_t, int *);
H cuTestGraph(void), cuTestFill(H, P, int, size_t), cuTestKernel(H, H, P, uint32_t), cuTestCopy(H, P, P, size_t);
R cuTestEdge(H, H, H, int), cuTestSet(H, H, H, P, uint32_t), cuGraphInstantiateWithFlags(H *, H, uint64_t), cuGraphLaunch(H, H);
R cuDeviceGetAttribute(int *, int, int), cuDeviceGetName(char *, int, int);
R cuLinkCreate_v2(unsigned, void *, void *, H *), cuLinkAddData_v2(H, int, const void *, size_t, const char *, unsigned, void *, void *), cuLinkComplete(H, void **, size_t *), cuLinkDestroy(H);
R cuTensorMapEncodeTiled(void *, int, unsigned, void *, const uint64_t *, const uint64_t *, const unsigned *, const unsigned *, int, int, int, int);
R cuTensorMapEncodeIm2colWide(void *, int, unsigned, void *, const uint64_t *, const uint64_t *, int, int, unsigned, unsigned, const unsigned *, int, int, int, int, int);
R cuFuncSetAttribute(H, int, int), cuFuncGetAttribute(int *, int, H), cuOccupancyMaxActiveBlocksPerMultiprocessor(int *, H, int, size_t);
const char *cuTestImage(void);
typedef R Launch(H, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, H, void **, void **);
Launch cuLaunchKernel;

static const char ptx[] =
	".version 8.0\n.target sm_90\n.address_size 64\n"
	".global .align 4 .u32 count;\n"
	".visible .entry add(.param .u64 p, .param .u32 n)\n{\n"
	"	.reg .b64 %p, %i; .reg .b32 %n, %t, %v, %c; .reg .pred %q;\n"
	"	ld.param.u64 %p, [p];\n	ld.param.u32 %n, [n];\n	mov.u32 %t, %tid.x;\n"
	"	setp.ge.u32 %q, %t, %n;\n	@%q ret;\n	mul.wide.u32 %i, %t, 4;\n	add.u64 %p, %p, %i;\n"
	"	ld.global.u32 %v, [%p];\n	ld.global.u32 %c, [count];\n	add.u32 %v, %v, %c;\n	st.global.u32 [%p], %v;\n	ret;\n}\n"
	".visible .entry wait(.param .u64 p, .param .u32 n) { ret; }\n"
	".visible .entry go(.param .u64 p, .param .u32 n) { ret; }\n";

// The same kernel in units that are linked: it calls a function and reads a variable of the
// second; the third is not needed, and cannot be linked.
static const char *const units[] = {
	".version 8.0\n.target sm_90\n.address_size 64\n"
	".extern .global .align 4 .u32 count;\n"
	".extern .func (.param .b32 r) sum(.param .b32 a, .param .b32 b);\n"
	".visible .entry add(.param .u64 p, .param .u32 n)\n{\n"
	"	.reg .b64 %p, %i; .reg .b32 %n, %t, %v, %c; .reg .pred %q;\n"
	"	ld.param.u64 %p, [p];\n	ld.param.u32 %n, [n];\n	mov.u32 %t, %tid.x;\n"
	"	setp.ge.u32 %q, %t, %n;\n	@%q ret;\n	mul.wide.u32 %i, %t, 4;\n	add.u64 %p, %p, %i;\n"
	"	ld.global.u32 %v, [%p];\n	ld.global.u32 %c, [count];\n"
	"	{ .param .b32 a; .param .b32 b; .param .b32 r; st.param.b32 [a], %v; st.param.b32 [b], %c;\n"
	"	call.uni (r), sum, (a, b); ld.param.b32 %v, [r]; }\n"
	"	st.global.u32 [%p], %v;\n	ret;\n}\n",
	".version 8.0\n.target sm_90\n.address_size 64\n"
	".visible .global .align 4 .u32 count;\n"
	".visible .func (.param .b32 r) sum(.param .b32 a, .param .b32 b)\n{\n"
	"	.reg .b32 %a, %b;\n	ld.param.b32 %a, [a];\n	ld.param.b32 %b, [b];\n	add.u32 %a, %a, %b;\n	st.param.b32 [r], %a;\n	ret;\n}\n",
	".version 8.0\n.target sm_90\n.address_size 64\n"
	".extern .func missing();\n.visible .func other() { call missing; ret; }\n",
};

// fat makes a fat binary with PTX (1) or machine code (2).
static const void *fat(int kind, const void *data, size_t n) {
	char *f = calloc(1, 80 + n);
	*(uint32_t *)f = 0xba55ed50, *(uint16_t *)(f + 4) = 1, *(uint16_t *)(f + 6) = 16, *(uint64_t *)(f + 8) = 64 + n;
	*(uint16_t *)(f + 16) = kind, *(uint32_t *)(f + 20) = 64, *(uint64_t *)(f + 24) = n, *(uint32_t *)(f + 44) = 90;
	return memcpy(f + 80, data, n), f;
}

static H module, add;
static P memory;
static uint32_t n = 100;
static Launch *launch = cuLaunchKernel;

static void unloads(void) { cuModuleUnload(module); }
static void *ends(void *none) { usleep(50000), exit(6); }

static void begin(const char *name) {
	uint32_t h[100];
	for (int i = 0; i < 100; i++) h[i] = i;
	cuInit(0);
	cuMemAlloc_v2(&memory, sizeof h);
	cuMemcpyHtoD_v2(memory, h, sizeof h);
	cuModuleLoadData(&module, ptx);
	cuModuleGetFunction(&add, module, name);
}
static void load(const void *image) {
	cuModuleUnload(module);
	if (cuModuleLoadData(&module, image)) abort();
	cuModuleGetFunction(&add, module, "add");
}
static int run(H f) {
	void *params[] = {&memory, &n};
	return launch(f, 1, 1, 1, 128, 1, 1, 0, 0, params, 0);
}
typedef struct { int id, pad; unsigned value[16]; } Attribute;
typedef struct { unsigned grid[3], block[3], shared; H stream; Attribute *attrs; unsigned nattrs; } Config;
R cuLaunchKernelEx(const Config *, H, void **, void **), cuMemsetD32Async(P, unsigned, size_t, H), cuEventRecord(H, H);
// depend launches as dependent on what is before it in the stream.
static int depend(H f) {
	void *params[] = {&memory, &n};
	Attribute a = {6, 0, {1}};
	Config c = {{1, 1, 1}, {128, 1, 1}, 0, (H)16, &a, 1};
	return cuLaunchKernelEx(&c, f, params, 0);
}
static H function(const char *name) {
	H f;
	cuModuleGetFunction(&f, module, name);
	return f;
}

int main(int argc, char **argv) {
	const char *what = argv[1];
	if (!strcmp(what, "without")) return 7; // no CUDA at all
	begin("add");
	if (!strcmp(what, "once")) return run(add), 3;
	if (!strcmp(what, "dlsym")) return launch = (Launch *)dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuLaunchKernel"), run(add);
	if (!strcmp(what, "closes")) { // all descriptors, and opens a file of its own in their place
		run(add);
		for (int i = 3; i < 64; i++) close(i);
		int file = open(argv[2], O_RDWR | O_CREAT | O_TRUNC, 0600);
		for (int i = 0; i < 20; i++) dup(file);
		n = 50, run(add), n = 60, run(add);
		return lseek(file, 0, SEEK_END) != 0;
	}
	if (!strcmp(what, "removes")) { // the folder of the capture
		char command[600];
		run(add);
		snprintf(command, sizeof command, "rm -rf '%s'", argv[2]);
		return system(command) || (n = 50, run(add)) ? 1 : 3;
	}
	if (!strcmp(what, "quiet")) { // a file in place of standard error, and a capture that fails
		close(2);
		int file = open(argv[2], O_RDWR | O_CREAT | O_TRUNC, 0600);
		if (file != 2) return 9;
		run(add), cuTestBreak(), n = 50, run(add);
		return lseek(2, 0, SEEK_END) != 0;
	}
	if (!strcmp(what, "sleeps")) {
		run(add);
		for (int i = 0; i < 2000; i++) usleep(10000);
		return 1;
	}
	if (!strcmp(what, "crash")) run(add), n = 50, run(add), abort();
	if (!strcmp(what, "killed")) run(add), kill(getpid(), SIGKILL);
	if (!strcmp(what, "repeat")) {
		for (int i = 0; i < 10000; i++) run(add);
		return 0;
	}
	if (!strcmp(what, "many")) {
		for (n = 0; n < 90; n++) run(add);
		return 0;
	}
	if (!strcmp(what, "fork")) {
		run(add);
		if (!fork()) _exit((n = 60, run(add)));
		int status;
		wait(&status);
		return n = 70, run(add);
	}
	if (!strcmp(what, "contexts")) return run(add), cuCtxSetCurrent((H)2), cuMemAlloc_v2(&memory, 400), run(add);
	if (!strcmp(what, "peer")) return cuCtxSetCurrent((H)2), run(add);
	if (!strcmp(what, "waits")) return run(function("wait")), run(function("go")), run(add);
	if (!strcmp(what, "graph")) {
		cuStreamBeginCapture(0);
		int r = run(add);
		cuStreamEndCapture(0);
		return r ? r : (n = 40, run(add));
	}
	if (!strcmp(what, "graphs")) {
		P other, more = memory + 40;
		uint32_t few = 20;
		cuMemAlloc_v2(&other, 400);
		cuMemcpyHtoD_v2(other, ptx, 400);
		// fill, then add; a copy of what add left; add again behind both, by a programmatic edge
		H graph = cuTestGraph(), exec, nodes[4];
		nodes[0] = cuTestFill(graph, memory, 3, 40);
		nodes[1] = cuTestKernel(graph, add, memory, n);
		nodes[2] = cuTestCopy(graph, other, memory, 200);
		nodes[3] = cuTestKernel(graph, add, more, few);
		cuTestEdge(graph, nodes[0], nodes[1], 0), cuTestEdge(graph, nodes[1], nodes[2], 0);
		cuTestEdge(graph, nodes[1], nodes[3], 1), cuTestEdge(graph, nodes[2], nodes[3], 0);
		if (cuGraphInstantiateWithFlags(&exec, graph, 0) || cuGraphLaunch(exec, 0) || cuGraphLaunch(exec, 0)) return 1;
		few = 7;
		if (cuTestSet(exec, nodes[3], add, more, few)) return 1;
		return cuGraphLaunch(exec, 0);
	}
	if (!strcmp(what, "device")) {
		// what the program is told, what the driver was given, and what the launch did
		char name[100];
		uint32_t h[100];
		int major, minor, r = run(add);
		cuDeviceGetName(name, sizeof name, 0), cuDeviceGetAttribute(&major, 75, 0), cuDeviceGetAttribute(&minor, 76, 0);
		cuMemcpyDtoH_v2(h, memory, sizeof h);
		fprintf(stderr, "%s, %d.%d: %d\n%s", name, major, minor, h[99], cuTestImage());
		return r;
	}
	if (!strcmp(what, "dependent")) {
		// 0; 1 behind it; an event, which parts nothing, and 2; 3 behind a memset; 4 behind a wait
		P other;
		cuTestStill(), cuMemAlloc_v2(&other, 400);
		depend(add), n = 50, depend(add), cuEventRecord((H)24, (H)16);
		memory = memory + 4, n = 40, depend(add);
		cuMemsetD32Async(other, 0, 4, (H)16), n = 30, depend(add);
		cuMemcpyHtoD_v2(other, ptx, 8), n = 20, depend(add);
		// as 0 was, and 5 behind it
		return cuMemcpyHtoD_v2(other, ptx, 8), memory = memory - 4, n = 100, depend(add), n = 10, depend(add);
	}
	if (!strcmp(what, "maps")) { // of a card with more types and swizzles, and less shared memory
		static char maps[4][128];
		uint64_t shape[] = {64, 256}, strides[] = {128}, packed[] = {128, 256};
		unsigned box[] = {32, 16}, steps[] = {1, 1}, wide[] = {128, 16};
		void *params[] = {maps};
		int types[] = {6, 6, 14, 14}, swizzles[] = {3, 4, 3, 4}, most;
		load(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry wait(.param .align 64 .b8 maps[512]) { ret; }\n");
		if (cuMemAlloc_v2(&memory, 128 * 128 * 2)) return 59;
		for (int i = 0; i < 4; i++) {
			int r = cuTensorMapEncodeTiled(maps[i], types[i], 2, (void *)(i < 3 ? 0x7f0000001000 : memory), i < 3 ? shape : packed, strides, i < 3 ? box : wide, steps, 0, swizzles[i], 1, 0);
			if (r) return 50 + r + i;
			((uint64_t *)maps[i])[1] &= ~(1ull << 21); // as CUTLASS does it to small ones
		}
		H f = function("wait");
		if (cuFuncSetAttribute(f, 8, 99 << 10) || cuFuncSetAttribute(f, 8, (99 << 10) + 1) != 1) return 60;
		if (cuFuncGetAttribute(&most, 5, f) || most != 90 || cuFuncGetAttribute(&most, 6, f) || most != 120) return 64; // versions of PTX and code
		if (cuOccupancyMaxActiveBlocksPerMultiprocessor(&most, f, 128, 30 << 10) || most != 3) return 61;
		if (cuOccupancyMaxActiveBlocksPerMultiprocessor(&most, f, 512, 0) || most != 3) return 62;
		if (cuOccupancyMaxActiveBlocksPerMultiprocessor(&most, f, 32, 0) || most != 24) return 63;
		return launch(f, 1, 1, 1, 128, 1, 1, 0, 0, params, 0);
	}
	if (!strcmp(what, "wide")) { // im2col's wide modes, of a card with them
		static char maps[2][128];
		uint64_t shape[] = {64, 20, 10, 2}, strides[] = {128, 2560, 25600};
		unsigned steps[] = {1, 1, 1, 1};
		void *params[] = {maps};
		load(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry wait(.param .align 64 .b8 maps[256]) { ret; }\n");
		for (int i = 0; i < 2; i++) {
			int r = cuTensorMapEncodeIm2colWide(maps[i], 6, 4, (void *)0x7f0000001000, shape, strides, -1, -2, 64, 32, steps, 0, i, 3, 0, 0);
			if (r) return 50 + r + i;
		}
		return launch(function("wait"), 1, 1, 1, 128, 1, 1, 0, 0, params, 0);
	}
	if (!strcmp(what, "machine")) { // code out of a file, as it is or in a fat binary that is part of the program
		static char code[1 << 14];
		FILE *f = fopen(getenv("CUBIN"), "r");
		size_t n = f ? fread(code, 1, sizeof code, f) : 0;
		const void *copy = memcpy(malloc(n), code, n), *list = fat(2, code, n);
		return load(!argv[2] ? copy : memcpy(code, list, 80 + n)), run(add);
	}
	if (!strcmp(what, "link")) {
		H state;
		void *cubin;
		size_t size;
		cuLinkCreate_v2(0, 0, 0, &state);
		for (int i = 0; i < 3; i++)
			if (cuLinkAddData_v2(state, 1, units[i], strlen(units[i]) + 1, "unit", 0, 0, 0)) return 1;
		if (cuLinkComplete(state, &cubin, &size)) return 2;
		void *copy = memcpy(malloc(size), cubin, size); // programs keep it, and destroy the linker
		cuLinkDestroy(state);
		return load(copy), run(add);
	}
	if (!strcmp(what, "jitlink") || !strcmp(what, "jitlink-dlsym")) {
		// The linker is a library of its own, of which a library that is loaded has need, or
		// whose functions are looked up.
		void *lib = dlopen(what[7] ? "libnvJitLink.so.13" : "uselink.so", RTLD_NOW | RTLD_LOCAL);
		const char *suffix = what[7] ? "" : "Used";
		int (*f[4])();
		for (int i = 0; i < 4; i++) {
			char name[40];
			snprintf(name, sizeof name, "nvJitLink%s%s", (char *[]){"Create", "AddData", "Complete", "GetLinkedCubin"}[i], suffix);
			if (!lib || !(f[i] = (int (*)())dlsym(lib, name))) return 3;
		}
		H linker;
		char cubin[100];
		f[0](&linker, 0, 0);
		for (int i = 0; i < 3; i++)
			if (f[1](linker, 2, units[i], strlen(units[i]) + 1, "unit")) return 4;
		if (f[2](linker) || f[3](linker, cubin)) return 5;
		return load(cubin), run(add);
	}
	if (!strcmp(what, "refused")) { // until it may have the shared memory; then the same launch
		void *params[] = {&memory, &n};
		if (launch(add, 1, 1, 1, 128, 1, 1, 64 << 10, 0, params, 0) != 1 || cuFuncSetAttribute(add, 8, 64 << 10)) return 1;
		return launch(add, 1, 1, 1, 128, 1, 1, 64 << 10, 0, params, 0);
	}
	if (!strcmp(what, "reset")) { // the handle of add is that of go afterwards
		run(add), cuDevicePrimaryCtxReset_v2(0), begin("go"), run(add);
		cuDevicePrimaryCtxRelease_v2(0), begin("add"), n = 50, run(add);
		return cuCtxDestroy_v2((H)1), begin("go"), n = 40, run(add);
	}
	if (!strcmp(what, "reset-unseen")) return run(add), cuTestReset(), begin("add"), n = 50, run(add);
	if (!strcmp(what, "reset-library")) { // its kernel is still there afterwards
		H library, kernel;
		cuLibraryLoadData(&library, ptx, 0, 0, 0, 0, 0, 0), cuLibraryGetKernel(&kernel, library, "add");
		run(kernel), cuTestReset(), begin("add"), n = 50, run(kernel);
		return cuTestReset(), begin("add"), n = 40, run(kernel);
	}
	if (!strcmp(what, "reset-runtime")) { // as CUDA's runtime does it
		int (*reset)(int), (*destroy)(H), status;
		if (cuGetProcAddress_v2("cuDevicePrimaryCtxReset", (void **)&reset, 7000, 0, &status)) return 1;
		if (cuGetProcAddress_v2("cuCtxDestroy", (void **)&destroy, 12000, 0, &status)) return 2;
		run(add), reset(0), begin("add"), n = 50, run(add);
		return destroy((H)1) ? 3 : (begin("add"), n = 40, run(add));
	}
	if (!strcmp(what, "lost")) return run(add), cuTestLose(), n = 50, run(add), n = 40, run(add);
	if (!strcmp(what, "exits")) { // a thread ends the process while a launch runs
		pthread_t thread;
		atexit(unloads), cuTestEnd(); // the last one first
		pthread_create(&thread, 0, ends, 0);
		return run(function("wait")), 1;
	}
	if (!strcmp(what, "broken")) return run(add), cuTestBreak(), n = 50, run(add), n = 40, run(add);
	if (!strcmp(what, "unload")) {
		run(add);
		cuModuleUnload(module);
		cuModuleLoadData(&module, ptx);
		cuModuleGetFunction(&add, module, "add");
		return n = 50, run(add);
	}
	if (!strcmp(what, "processes")) {
		char *args[] = {argv[0], "once", 0};
		for (int i = 0; i < 2; i++) {
			char rank[2] = {'0' + i, 0};
			setenv("RANK", rank, 1);
			if (!fork()) execv("/proc/self/exe", args), _exit(9);
		}
		int status;
		while (wait(&status) > 0) {}
		return 0;
	}
	return 99;
}
