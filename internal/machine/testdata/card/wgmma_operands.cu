// What wgmma reads, and when: A in registers, and operands that cp.async wrote.
// nvcc -arch=sm_90a -o wgmma_operands wgmma_operands.cu && ./wgmma_operands
#include <cstdint>
#include <cstdio>
#include <cuda_fp16.h>
__device__ uint32_t sa(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ uint64_t desc(const void *p) { return (uint64_t)((sa(p) & 0x3ffff) >> 4) | (uint64_t)(128 >> 4) << 16 | (uint64_t)(256 >> 4) << 32; }
__device__ __forceinline__ void mma(float *d, uint64_t da, uint64_t db) {
	asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, %64, %65, 1, 1, 1, 0, 0;"
		: "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]),"+f"(d[4]),"+f"(d[5]),"+f"(d[6]),"+f"(d[7]),"+f"(d[8]),"+f"(d[9]),"+f"(d[10]),"+f"(d[11]),"+f"(d[12]),"+f"(d[13]),"+f"(d[14]),"+f"(d[15]),"+f"(d[16]),"+f"(d[17]),"+f"(d[18]),"+f"(d[19]),"+f"(d[20]),"+f"(d[21]),"+f"(d[22]),"+f"(d[23]),"+f"(d[24]),"+f"(d[25]),"+f"(d[26]),"+f"(d[27]),"+f"(d[28]),"+f"(d[29]),"+f"(d[30]),"+f"(d[31]),"+f"(d[32]),"+f"(d[33]),"+f"(d[34]),"+f"(d[35]),"+f"(d[36]),"+f"(d[37]),"+f"(d[38]),"+f"(d[39]),"+f"(d[40]),"+f"(d[41]),"+f"(d[42]),"+f"(d[43]),"+f"(d[44]),"+f"(d[45]),"+f"(d[46]),"+f"(d[47]),"+f"(d[48]),"+f"(d[49]),"+f"(d[50]),"+f"(d[51]),"+f"(d[52]),"+f"(d[53]),"+f"(d[54]),"+f"(d[55]),"+f"(d[56]),"+f"(d[57]),"+f"(d[58]),"+f"(d[59]),"+f"(d[60]),"+f"(d[61]),"+f"(d[62]),"+f"(d[63]) : "l"(da), "l"(db));
}
__device__ __forceinline__ void mmaRegs(float *d, const uint32_t *a, uint64_t db) {
	asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, {%64,%65,%66,%67}, %68, 1, 1, 1, 0;"
		: "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]),"+f"(d[4]),"+f"(d[5]),"+f"(d[6]),"+f"(d[7]),"+f"(d[8]),"+f"(d[9]),"+f"(d[10]),"+f"(d[11]),"+f"(d[12]),"+f"(d[13]),"+f"(d[14]),"+f"(d[15]),"+f"(d[16]),"+f"(d[17]),"+f"(d[18]),"+f"(d[19]),"+f"(d[20]),"+f"(d[21]),"+f"(d[22]),"+f"(d[23]),"+f"(d[24]),"+f"(d[25]),"+f"(d[26]),"+f"(d[27]),"+f"(d[28]),"+f"(d[29]),"+f"(d[30]),"+f"(d[31]),"+f"(d[32]),"+f"(d[33]),"+f"(d[34]),"+f"(d[35]),"+f"(d[36]),"+f"(d[37]),"+f"(d[38]),"+f"(d[39]),"+f"(d[40]),"+f"(d[41]),"+f"(d[42]),"+f"(d[43]),"+f"(d[44]),"+f"(d[45]),"+f"(d[46]),"+f"(d[47]),"+f"(d[48]),"+f"(d[49]),"+f"(d[50]),"+f"(d[51]),"+f"(d[52]),"+f"(d[53]),"+f"(d[54]),"+f"(d[55]),"+f"(d[56]),"+f"(d[57]),"+f"(d[58]),"+f"(d[59]),"+f"(d[60]),"+f"(d[61]),"+f"(d[62]),"+f"(d[63]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(db));
}
#define FENCE asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define COMMIT asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define WAIT(n) asm volatile("wgmma.wait_group.sync.aligned " #n ";" ::: "memory")
#define PROXY asm volatile("fence.proxy.async.shared::cta;" ::: "memory")

// A in registers: does mma_async return before the fourth warp has issued it?
__global__ void issueRegs(long long late, float *out) {
	extern __shared__ __align__(1024) unsigned char sm[];
	__half *B = (__half *)sm;
	for (int i = threadIdx.x; i < 2048; i += 128) B[i] = __float2half(1.f);
	PROXY; __syncthreads();
	int w = threadIdx.x / 32;
	float d[64]; for (int i = 0; i < 64; i++) d[i] = 0;
	uint32_t a[4] = {0x3c003c00, 0x3c003c00, 0x3c003c00, 0x3c003c00};
	uint64_t db = desc(B);
	long long t0 = clock64();
	if (w == 3) while (clock64() - t0 < late);
	FENCE; mmaRegs(d, a, db); long long t1 = clock64();
	COMMIT; WAIT(0); long long t2 = clock64();
	float s = 0; for (int i = 0; i < 64; i++) s += d[i];
	if (threadIdx.x % 32 == 0) { out[w * 3] = t1 - t0; out[w * 3 + 1] = t2 - t0; out[w * 3 + 2] = s / 64; }
}

// A in registers: one warp overwrites B after its own wait, the others wait late or at
// once. Is what all four read over?
__global__ void overRegs(int iters, int late, unsigned long long *out) {
	extern __shared__ __align__(1024) unsigned char sm[];
	__half *B = (__half *)sm;
	int w = threadIdx.x / 32, lane = threadIdx.x % 32; unsigned bad = 0;
	for (int it = 0; it < iters; it++) {
		for (int i = threadIdx.x; i < 2048; i += 128) B[i] = __float2half(1.f);
		PROXY; __syncthreads();
		float d[64]; for (int i = 0; i < 64; i++) d[i] = 0;
		uint32_t a[4] = {0x3c003c00, 0x3c003c00, 0x3c003c00, 0x3c003c00};
		uint64_t db = desc(B);
		FENCE; for (int k = 0; k < 8; k++) mmaRegs(d, a, db);
		COMMIT;
		if (w != it % 4) { long long t = clock64(); while (clock64() - t < late); }
		WAIT(0);
		if (w == it % 4) { uint4 g; g.x = g.y = g.z = g.w = 0x64006400u; for (int i = lane; i < 256; i += 32) ((uint4 *)B)[i] = g; }
		for (int i = 0; i < 64; i++) bad += d[i] != 128.f;
		__syncthreads();
	}
	if (bad) atomicAdd(out, (unsigned long long)bad);
}

// Operands written by cp.async: each thread copies its part, waits for it, and comes to
// the wgmma with no barrier in between; with and without a proxy fence. One warp is late
// with its copies. WAITS 0 leaves the wait out, which must show.
template <int PROXYFENCE, int WAITS, int BARRIER> __global__ void copied(int iters, int late, const unsigned char *ones, unsigned long long *out) {
	extern __shared__ __align__(1024) unsigned char sm[];
	__half *A = (__half *)sm, *B = (__half *)(sm + 4096);
	int w = threadIdx.x / 32; unsigned bad = 0;
	for (int it = 0; it < iters; it++) {
		for (int i = threadIdx.x; i < 1024; i += 128) A[i] = __float2half(2.f);
		for (int i = threadIdx.x; i < 2048; i += 128) B[i] = __float2half(2.f);
		PROXY; __syncthreads();
		float d[64]; for (int i = 0; i < 64; i++) d[i] = 0;
		uint64_t da = desc(A), db = desc(B);
		if (w == it % 4) { long long t = clock64(); while (clock64() - t < late); }
		const unsigned char *from = ones + (it * 8192 & 0xffffff);
		for (int i = threadIdx.x; i < 128; i += 128) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(sa(A) + 16 * i), "l"(from + 16 * i) : "memory");
		for (int i = threadIdx.x; i < 256; i += 128) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(sa(B) + 16 * i), "l"(from + 2048 + 16 * i) : "memory");
		if (WAITS) asm volatile("cp.async.wait_all;" ::: "memory");
		if (PROXYFENCE) PROXY;
		if (BARRIER) __syncthreads();
		FENCE; mma(d, da, db); COMMIT; WAIT(0);
		for (int i = 0; i < 64; i++) bad += d[i] != 16.f;
		asm volatile("cp.async.wait_all;" ::: "memory");
		__syncthreads();
	}
	if (bad) atomicAdd(out, (unsigned long long)bad);
}

// Operands written by generic stores, with no proxy fence, and with no barrier.
template <int PROXYFENCE, int BARRIER> __global__ void stored(int iters, int late, unsigned long long *out) {
	extern __shared__ __align__(1024) unsigned char sm[];
	__half *A = (__half *)sm, *B = (__half *)(sm + 4096);
	int w = threadIdx.x / 32; unsigned bad = 0;
	for (int it = 0; it < iters; it++) {
		for (int i = threadIdx.x; i < 1024; i += 128) A[i] = __float2half(2.f);
		for (int i = threadIdx.x; i < 2048; i += 128) B[i] = __float2half(2.f);
		PROXY; __syncthreads();
		float d[64]; for (int i = 0; i < 64; i++) d[i] = 0;
		uint64_t da = desc(A), db = desc(B);
		if (w == it % 4) { long long t = clock64(); while (clock64() - t < late); }
		for (int i = threadIdx.x; i < 1024; i += 128) A[i] = __float2half(1.f);
		for (int i = threadIdx.x; i < 2048; i += 128) B[i] = __float2half(1.f);
		if (PROXYFENCE) PROXY;
		if (BARRIER) __syncthreads();
		FENCE; mma(d, da, db); COMMIT; WAIT(0);
		for (int i = 0; i < 64; i++) bad += d[i] != 16.f;
		__syncthreads();
	}
	if (bad) atomicAdd(out, (unsigned long long)bad);
}

// A generic read of a stage by the other warps, which the one that gives it back does not
// know of: only the wgmma after the reads holds the four together.
__global__ void readBeside(int iters, int late, unsigned long long *out) {
	extern __shared__ __align__(1024) unsigned char sm[];
	__half *A = (__half *)sm, *B = (__half *)(sm + 4096); volatile int *scale = (int *)(sm + 8192);
	int w = threadIdx.x / 32, lane = threadIdx.x % 32; unsigned bad = 0;
	for (int it = 0; it < iters; it++) {
		for (int i = threadIdx.x; i < 1024; i += 128) A[i] = __float2half(1.f);
		for (int i = threadIdx.x; i < 2048; i += 128) B[i] = __float2half(1.f);
		scale[threadIdx.x] = 7;
		PROXY; __syncthreads();
		float d[64]; for (int i = 0; i < 64; i++) d[i] = 0;
		uint64_t da = desc(A), db = desc(B);
		if (w != it % 4) { long long t = clock64(); while (clock64() - t < late); }
		int s = 0; for (int k = 0; k < 128; k += 32) s += scale[k + lane];
		FENCE; mma(d, da, db); COMMIT; WAIT(0);
		if (w == it % 4) for (int k = 0; k < 128; k += 32) scale[k + lane] = 9;
		bad += s != 28; for (int i = 0; i < 64; i++) bad += d[i] != 16.f;
		__syncthreads();
	}
	if (bad) atomicAdd(out, (unsigned long long)bad);
}

static unsigned long long *count;
template <class F> void tell(const char *what, F launch) {
	unsigned long long n;
	cudaMemset(count, 0, 8); launch(); cudaError_t e = cudaDeviceSynchronize();
	cudaMemcpy(&n, count, 8, cudaMemcpyDeviceToHost);
	printf("%s: %llu wrong, %s\n", what, n, cudaGetErrorString(e));
}
int main() {
	float *f, h[12]; cudaMalloc(&f, 64); cudaMalloc(&count, 8);
	for (long long late : {0LL, 1000000LL}) {
		issueRegs<<<1, 128, 16384>>>(late, f); cudaMemcpy(h, f, 48, cudaMemcpyDeviceToHost);
		for (int w = 0; w < 4; w++) printf("A in registers, warp 3 late by %lld: warp %d after mma_async %g, after wait %g cycles, D %g\n", late, w, h[3 * w], h[3 * w + 1], h[3 * w + 2]);
	}
	unsigned char *ones; cudaMalloc(&ones, 17 << 20);
	{ uint16_t *p = (uint16_t *)malloc(17 << 20); for (int i = 0; i < (17 << 19); i++) p[i] = 0x3c00; cudaMemcpy(ones, p, 17 << 20, cudaMemcpyHostToDevice); }
	const int n = 50000;
	for (int late : {0, 2000}) {
		printf("-- late %d\n", late);
		tell("A in registers, B overwritten after one warp's wait", [&] { overRegs<<<1, 128, 16384>>>(n, late, count); });
		tell("cp.async, no wait, no fence, no barrier", [&] { copied<0, 0, 0><<<1, 128, 16384>>>(n, late, ones, count); });
		tell("cp.async, wait, no fence, no barrier", [&] { copied<0, 1, 0><<<1, 128, 16384>>>(n, late, ones, count); });
		tell("cp.async, wait, fence, no barrier", [&] { copied<1, 1, 0><<<1, 128, 16384>>>(n, late, ones, count); });
		tell("cp.async, wait, no fence, barrier", [&] { copied<0, 1, 1><<<1, 128, 16384>>>(n, late, ones, count); });
		tell("cp.async, wait, fence, barrier", [&] { copied<1, 1, 1><<<1, 128, 16384>>>(n, late, ones, count); });
		tell("stores, no fence, no barrier", [&] { stored<0, 0><<<1, 128, 16384>>>(n, late, count); });
		tell("stores, fence, no barrier", [&] { stored<1, 0><<<1, 128, 16384>>>(n, late, count); });
		tell("stores, no fence, barrier", [&] { stored<0, 1><<<1, 128, 16384>>>(n, late, count); });
		tell("stores, fence, barrier", [&] { stored<1, 1><<<1, 128, 16384>>>(n, late, count); });
		tell("a stage read beside wgmma, given back by one warp", [&] { readBeside<<<1, 128, 16384>>>(n, late, count); });
	}
}
