// The last CTA to come finishes the work of all.
#include "sync.cuh"

__device__ u32 block_sum(u32 v) {
	__shared__ u32 part[4];
	for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);
	if ((threadIdx.x & 31) == 0) part[threadIdx.x / 32] = v;
	__syncthreads();
	v = 0;
	for (int w = 0; w < (blockDim.x + 31) / 32; w++) v += part[w];
	return v;
}

// threadFenceReduction of the CUDA samples, with the fence that its reader needs too.
//! last_reduction last 4x64 small 2x1
//! arg part u32 256 zeros
//! arg out u32 1 zeros
//! arg count u32 1 zeros
//! want out 640
//! want count 0
extern "C" __global__ void last_reduction(u32* part, u32* out, u32* count) {
	__shared__ bool last;
	u32 sum = blockDim.x > 1 ? block_sum(blockIdx.x + 1) : blockIdx.x + 1;
	if (threadIdx.x == 0) {
		part[blockIdx.x] = sum;
		__threadfence();
		last = atomicInc(count, gridDim.x) == gridDim.x - 1;
		__threadfence();
	}
	__syncthreads();
	if (last && threadIdx.x == 0) {
		u32 all = 0;
		for (u32 b = 0; b < gridDim.x; b++) all += part[b];
		*out = all;
		*count = 0;
	}
}

//! last_acq_rel last 4x32 small 2x1
//! arg part u32 256 zeros
//! arg out u32 1 zeros
//! arg count u32 1 zeros
//! want out 10
//! want count 0
extern "C" __global__ void last_acq_rel(u32* part, u32* out, u32* count) {
	if (threadIdx.x != 0) return;
	part[blockIdx.x] = blockIdx.x + 1;
	if (inc_acq_rel(count, gridDim.x - 1) == gridDim.x - 1) {
		u32 all = 0;
		for (u32 b = 0; b < gridDim.x; b++) all += part[b];
		*out = all;
	}
}

// The Programming Guide's: every thread fences, one counts, all learn it by a barrier.
//! last_all_fence last 3x32 small 2x2
//! arg part u32 512 zeros
//! arg out u32 32 zeros
//! arg count u32 1 zeros
//! want out 6*32
extern "C" __global__ void last_all_fence(u32* part, u32* out, u32* count) {
	u32 t = threadIdx.x;
	part[blockIdx.x * blockDim.x + t] = blockIdx.x + 1;
	__threadfence();
	__syncthreads();
	int am_last = 0;
	if (t == 0) am_last = atomicAdd(count, 1) == gridDim.x - 1;
	if (__syncthreads_or(am_last)) {
		__threadfence();
		u32 all = 0;
		for (u32 b = 0; b < gridDim.x; b++) all += part[b * blockDim.x + t];
		out[t] = all;
	}
}

// One fence, after the barrier, speaks for the whole CTA.
//! last_one_fence last 4x32 small 2x1
//! arg part u32 512 zeros
//! arg out u32 32 zeros
//! arg count u32 1 zeros
//! want out 10*32
extern "C" __global__ void last_one_fence(u32* part, u32* out, u32* count) {
	__shared__ u32 ticket;
	u32 t = threadIdx.x;
	part[blockIdx.x * blockDim.x + t] = blockIdx.x + 1;
	__syncthreads();
	if (t == 0) ticket = add_acq_rel(count, 1);
	__syncthreads();
	if (ticket + 1 == gridDim.x) {
		u32 all = 0;
		for (u32 b = 0; b < gridDim.x; b++) all += part[b * blockDim.x + t];
		out[t] = all;
	}
}

// Minimum and maximum in two arrays.
//! last_minmax last 3x32 small 2x1
//! arg lo s32 256 zeros
//! arg hi s32 256 zeros
//! arg out s32 2 zeros
//! arg count u32 1 zeros
//! want out -3,30
extern "C" __global__ void last_minmax(int* lo, int* hi, int* out, u32* count) {
	if (threadIdx.x) return;
	int b = blockIdx.x;
	lo[b] = -b - 1;
	hi[b] = 10 * (b + 1);
	fence_acq_rel();
	u32 before = add_relaxed(count, 1);
	fence_acq_rel();
	if (before != gridDim.x - 1) return;
	int l = lo[0], h = hi[0];
	for (int i = 1; i < gridDim.x; i++) {
		l = min(l, lo[i]);
		h = max(h, hi[i]);
	}
	out[0] = l;
	out[1] = h;
}

// Counts in shared memory, then in global memory; the last CTA makes prefix sums of them.
//! last_histogram last 3x32 small 2x1
//! arg bins u32 4 zeros
//! arg out u32 4 zeros
//! arg count u32 1 zeros
//! want out 24,48,72,96
extern "C" __global__ void last_histogram(u32* bins, u32* out, u32* count) {
	__shared__ u32 mine[4];
	__shared__ u32 before;
	u32 t = threadIdx.x;
	if (t < 4) mine[t] = 0;
	if (blockDim.x == 1) mine[1] = mine[2] = mine[3] = 0;
	__syncthreads();
	atomicAdd(&mine[t & 3], 1);
	__syncthreads();
	for (u32 i = t; i < 4; i += blockDim.x) atomicAdd(&bins[i], mine[i]);
	__syncthreads();
	if (t == 0) before = add_acq_rel(count, 1);
	__syncthreads();
	if (before == gridDim.x - 1 && t == 0) {
		u32 sum = 0;
		for (u32 i = 0; i < 4; i++) out[i] = sum += bins[i];
	}
}

// Value and index in one word of 64 bits.
//! last_argmax last 4x32 small 2x1
//! arg best u64 1 zeros
//! arg out u32 1 zeros
//! arg count u32 1 zeros
//! want out 2
extern "C" __global__ void last_argmax(u64* best, u32* out, u32* count) {
	if (threadIdx.x) return;
	u32 b = blockIdx.x, v = b == 2 || gridDim.x == 2 && b == 1 ? 50 : b;
	atomicMax(best, (u64)v << 32 | b);
	__threadfence();
	if (atomicAdd(count, 1) == gridDim.x - 1) {
		__threadfence();
		*out = (u32)*best;
	}
}

// Two rows of two CTAs each, with a counter for each row.
//! last_of_row last 4x32 small 4x1
//! arg part f32 512 nan
//! arg out f32 64 nan
//! arg count u32 2 zeros
//! want out 3*64
extern "C" __global__ void last_of_row(float* part, float* out, u32* count) {
	__shared__ u32 last;
	u32 row = blockIdx.x / 2, col = blockIdx.x % 2, t = threadIdx.x;
	part[blockIdx.x * blockDim.x + t] = col + 1;
	__syncthreads();
	if (t == 0) {
		u32 old;
		asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;" : "=r"(old) : "l"(&count[row]), "r"(1u) : "memory");
		last = old == 1;
	}
	__syncthreads();
	if (last) out[row * blockDim.x + t] = part[2 * row * blockDim.x + t] + part[(2 * row + 1) * blockDim.x + t];
}

// Each warp counts for itself, and there is no barrier.
//! last_warp last 2x64 small 3x1
//! arg part u32 64 zeros
//! arg out u32 1 zeros
//! arg count u32 1 zeros
//! want out 10
extern "C" __global__ void last_warp(u32* part, u32* out, u32* count) {
	u32 warps = (blockDim.x + 31) / 32, w = blockIdx.x * warps + threadIdx.x / 32, n = gridDim.x * warps;
	if (threadIdx.x & 31) return;
	part[w] = w + 1;
	__threadfence();
	if (atomicAdd(count, 1) == n - 1) {
		__threadfence();
		u32 all = 0;
		for (u32 i = 0; i < n; i++) all += part[i];
		*out = all;
	}
}

// Volatile partial results, as older code has them: strong, and still in need of fences.
//! last_volatile last 4x32 small 2x1
//! arg part u32 256 zeros
//! arg out u32 1 zeros
//! arg count u32 1 zeros
//! want out 10
extern "C" __global__ void last_volatile(volatile u32* part, u32* out, u32* count) {
	if (threadIdx.x) return;
	part[blockIdx.x] = blockIdx.x + 1;
	__threadfence();
	u32 ticket = atomicAdd(count, 1);
	if (ticket == gridDim.x - 1) {
		__threadfence();
		u32 all = 0;
		for (u32 b = 0; b < gridDim.x; b++) all += part[b];
		*out = all;
	}
}
