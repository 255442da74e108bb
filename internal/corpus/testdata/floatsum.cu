// Floating-point sums by atomics, in whatever order they come.
#include "sync.cuh"

//! fsum_threads floatsum 4x32 small 2x1
//! arg in f32 512 ones
//! arg out f32 1 zeros
//! near out 128
extern "C" __global__ void fsum_threads(const float* in, float* out) {
	atomicAdd(out, in[blockIdx.x * blockDim.x + threadIdx.x]);
}

//! fsum_warps floatsum 4x64 small 2x32
//! arg in f32 512 ones
//! arg out f32 1 zeros
//! near out 256
extern "C" __global__ void fsum_warps(const float* in, float* out) {
	float v = in[blockIdx.x * blockDim.x + threadIdx.x];
	for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(~0u, v, d);
	if ((threadIdx.x & 31) == 0) atomicAdd(out, v);
}

//! fsum_blocks floatsum 5x64 small 2x1
//! arg in f32 512 ones
//! arg out f32 1 zeros
//! near out 320
extern "C" __global__ void fsum_blocks(const float* in, float* out) {
	__shared__ float s[128];
	u32 t = threadIdx.x;
	s[t] = in[blockIdx.x * blockDim.x + t];
	for (u32 d = blockDim.x / 2; d > 0; d /= 2) {
		__syncthreads();
		if (t < d) s[t] += s[t + d];
	}
	if (t == 0) atomicAdd(out, s[0]);
}

// Split-K: each slice adds its part of the tile.
//! fsum_splitk floatsum 4x64 small 2x1
//! arg a f32 256 ones
//! arg b f32 256 ones
//! arg c f32 64 zeros
//! near c 16*64
extern "C" __global__ void fsum_splitk(const float* a, const float* b, float* c) {
	u32 row = threadIdx.x / 8, col = threadIdx.x % 8;
	float acc = 0;
	for (u32 k = 4 * blockIdx.x; k < 4 * blockIdx.x + 4; k++) acc += a[row * 16 + k] * b[k * 8 + col];
	atomicAdd(&c[threadIdx.x], acc);
}

//! fsum_histogram floatsum 4x32 small 2x2
//! arg bins f32 4 zeros
//! near bins 16*4
extern "C" __global__ void fsum_histogram(float* bins) {
	atomicAdd(&bins[threadIdx.x & 3], 0.5f);
}

// Sum and sum of squares.
//! fsum_moments floatsum 3x64 small 2x32
//! arg in f32 512 ones
//! arg out f64 2 zeros
//! near out 192,192
extern "C" __global__ void fsum_moments(const float* in, double* out) {
	double x = in[blockIdx.x * blockDim.x + threadIdx.x], y = x * x;
	for (int d = 16; d > 0; d /= 2) {
		x += __shfl_down_sync(~0u, x, d);
		y += __shfl_down_sync(~0u, y, d);
	}
	if (threadIdx.x % 32 == 0) {
		atomicAdd(&out[0], x);
		atomicAdd(&out[1], y);
	}
}

// The last CTA scales what all have added up.
//! fsum_then_mean floatsum 4x32 small 2x1
//! arg in f32 512 ones
//! arg sum f32 1 zeros
//! arg out f32 1 zeros
//! arg count u32 1 zeros
//! near out 32
extern "C" __global__ void fsum_then_mean(const float* in, float* sum, float* out, u32* count) {
	atomicAdd(sum, in[blockIdx.x * blockDim.x + threadIdx.x]);
	__syncthreads();
	if (threadIdx.x == 0 && add_acq_rel(count, 1) == gridDim.x - 1) *out = *sum / gridDim.x;
}

// Two neighbours at once (sm_90).
//! fsum_float2 floatsum 3x32 small 2x1
//! arg out f32 64 zeros
//! near out 3*64
extern "C" __global__ void fsum_float2(float2* out) {
	atomicAdd(&out[threadIdx.x], make_float2(1, 1));
}

// Gradients of an embedding: rows that several CTAs meet in.
//! fsum_scatter floatsum 4x32 small 4x1
//! arg grad f32 96 zeros
//! near grad 2*32,1*32,1*32
extern "C" __global__ void fsum_scatter(float* grad) {
	u32 row = blockIdx.x % 3;
	asm volatile("red.relaxed.gpu.global.add.f32 [%0], %1;" ::"l"(&grad[row * blockDim.x + threadIdx.x]), "f"(1.f) : "memory");
}

// The sum behind a grid barrier is read by every CTA.
//! fsum_normalize floatsum 3x32 small 2x1
//! arg x f32 512 ones
//! arg sum f32 1 zeros
//! arg count u32 1 zeros
//! near x 0.010416667*96,1*416
extern "C" __global__ void fsum_normalize(float* x, float* sum, u32* count) {
	u32 i = blockIdx.x * blockDim.x + threadIdx.x;
	float v = x[i];
	atomicAdd(sum, v);
	__syncthreads();
	if (threadIdx.x == 0) {
		red_release(count, 1);
		while (ld_acquire(count) != gridDim.x) {}
	}
	__syncthreads();
	x[i] = v / *sum;
}
