// Barriers of a whole grid.
#include <cooperative_groups.h>
#include "sync.cuh"
namespace cg = cooperative_groups;

//! grid_counter grid 4x32 small 2x1
//! arg data u32 512 zeros
//! arg out u32 512 zeros
//! arg count u32 1 zeros
//! want out down*128,0*384
extern "C" __global__ void grid_counter(u32* data, u32* out, u32* count) {
	u32 i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
	data[i] = i;
	__syncthreads();
	if (threadIdx.x == 0) {
		__threadfence();
		atomicAdd(count, 1);
		while (*(volatile u32*)count < gridDim.x) {}
		__threadfence();
	}
	__syncthreads();
	out[i] = data[n - 1 - i];
}

//! grid_acquire grid 4x64 small 2x1
//! arg data u32 512 zeros
//! arg out u32 512 zeros
//! arg count u32 1 zeros
//! want out down*256,0*256
extern "C" __global__ void grid_acquire(u32* data, u32* out, u32* count) {
	u32 i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
	data[i] = i;
	__syncthreads();
	if (threadIdx.x == 0) {
		red_release(count, 1);
		while (ld_acquire(count) != gridDim.x) {}
	}
	__syncthreads();
	out[i] = data[n - 1 - i];
}

//! grid_cooperative grid 3x32 small 2x1 cooperative
//! arg data u32 512 zeros
//! arg out u32 512 zeros
//! want out down*96,0*416
extern "C" __global__ void grid_cooperative(u32* data, u32* out) {
	cg::grid_group g = cg::this_grid();
	u32 i = g.thread_rank(), n = g.size();
	data[i] = i;
	g.sync();
	out[i] = data[n - 1 - i];
}

// Two sweeps of a stencil.
//! grid_cooperative_stencil grid 3x32 small 2x1 cooperative
//! arg a u32 512 iota
//! arg b u32 512 zeros
extern "C" __global__ void grid_cooperative_stencil(u32* a, u32* b) {
	cg::grid_group g = cg::this_grid();
	u32 i = g.thread_rank(), n = g.size();
	b[i] = a[i] + a[(i + 1) % n];
	g.sync();
	a[i] = b[i] + b[(i + 1) % n];
}

// What cg::grid_sync does, by hand: block 0 adds what flips the high bit.
__device__ void high_bit_sync(volatile u32* arrived) {
	__syncthreads();
	if (threadIdx.x == 0) {
		u32 n = gridDim.x;
		u32 add = blockIdx.x == 0 ? 0x80000000u - (n - 1) : 1;
		__threadfence();
		u32 old = atomicAdd((u32*)arrived, add);
		while (((old ^ *arrived) & 0x80000000u) == 0) {}
		__threadfence();
	}
	__syncthreads();
}

//! grid_high_bit grid 3x32 small 2x1
//! arg data u32 512 zeros
//! arg out u32 512 zeros
//! arg arrived u32 1 zeros
extern "C" __global__ void grid_high_bit(u32* data, u32* out, u32* arrived) {
	u32 i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
	data[i] = i;
	high_bit_sync(arrived);
	out[i] = data[(i + blockDim.x) % n];
	high_bit_sync(arrived);
	data[i] = 0;
}

//! grid_sense grid 3x32 small 2x1
//! arg data u32 512 zeros
//! arg out u32 512 zeros
//! arg count u32 1 zeros
//! arg sense u32 1 zeros
//! want out down*96,0*416
extern "C" __global__ void grid_sense(u32* data, u32* out, u32* count, volatile u32* sense) {
	u32 i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x, mine = 1;
	for (int round = 0; round < 2; round++) {
		if (round == 0)
			data[i] = i;
		else
			out[i] = data[n - 1 - i];
		__syncthreads();
		if (threadIdx.x == 0) {
			__threadfence();
			if (atomicAdd(count, 1) == gridDim.x - 1) {
				*count = 0;
				__threadfence();
				*sense = mine;
			} else {
				while (*sense != mine) {}
			}
			__threadfence();
		}
		mine ^= 1;
		__syncthreads();
	}
}

// Every thread arrives, and every thread waits.
//! grid_all_threads grid 3x32 small 2x1
//! arg data u32 512 zeros
//! arg out u32 512 zeros
//! arg count u32 1 zeros
//! want out down*96,0*416
extern "C" __global__ void grid_all_threads(u32* data, u32* out, u32* count) {
	u32 i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
	data[i] = i;
	red_release(count, 1);
	while (ld_acquire(count) < n) {}
	out[i] = data[n - 1 - i];
}

// The barrier of Xiao and Feng: no atomics, CTA 0 gathers and lets go.
//! grid_lock_free grid 3x32 small 4x2
//! arg data u32 512 zeros
//! arg out u32 512 zeros
//! arg in u32 256 zeros
//! arg go u32 256 zeros
//! want out down*96,0*416
extern "C" __global__ void grid_lock_free(u32* data, u32* out, volatile u32* in, volatile u32* go) {
	u32 t = threadIdx.x, i = blockIdx.x * blockDim.x + t, n = gridDim.x * blockDim.x;
	data[i] = i;
	__threadfence();
	__syncthreads();
	if (t == 0) in[blockIdx.x] = 1;
	if (blockIdx.x == 0) {
		for (u32 b = t; b < gridDim.x; b += blockDim.x)
			while (in[b] != 1) {}
		__threadfence();
		__syncthreads();
		for (u32 b = t; b < gridDim.x; b += blockDim.x) go[b] = 1;
	}
	if (t == 0)
		while (go[blockIdx.x] != 1) {}
	__syncthreads();
	__threadfence();
	out[i] = data[n - 1 - i];
}

// The last to arrive starts the next generation.
//! grid_generation grid 3x32 small 2x1
//! arg data u32 512 zeros
//! arg out u32 512 zeros
//! arg bar u32 2 zeros
//! want bar 0,1
//! want out down*96,0*416
extern "C" __global__ void grid_generation(u32* data, u32* out, u32* bar) {
	u32 i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
	data[i] = i;
	__syncthreads();
	if (threadIdx.x == 0) {
		u32 generation = ld_relaxed(&bar[1]);
		if (add_acq_rel(&bar[0], 1) + 1 == gridDim.x) {
			st_relaxed(&bar[0], 0);
			red_release(&bar[1], 1);
		} else {
			while (ld_acquire(&bar[1]) == generation) {}
		}
	}
	__syncthreads();
	out[i] = data[n - 1 - i];
}

// Dissemination: in round r each tells the one 2^r further on.
//! grid_dissemination grid 4x32 small 2x1
//! arg data u32 512 zeros
//! arg out u32 512 zeros
//! arg flags u32 2048 zeros
//! want out down*128,0*384
extern "C" __global__ void grid_dissemination(u32* data, u32* out, u32* flags) {
	u32 i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
	data[i] = i;
	__syncthreads();
	if (threadIdx.x == 0) {
		for (u32 step = 1, r = 0; step < gridDim.x; step *= 2, r++) {
			st_release(&flags[r * gridDim.x + (blockIdx.x + step) % gridDim.x], 1);
			while (ld_acquire(&flags[r * gridDim.x + blockIdx.x]) == 0) {}
		}
	}
	__syncthreads();
	out[i] = data[n - 1 - i];
}

// A tree of two children each; node b waits for 2b+1 and 2b+2.
//! grid_tree grid 5x32 small 3x1
//! arg data u32 512 zeros
//! arg out u32 512 zeros
//! arg up u32 256 zeros
//! arg down u32 1 zeros
//! want out down*160,0*352
extern "C" __global__ void grid_tree(u32* data, u32* out, u32* up, u32* down) {
	u32 i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x, b = blockIdx.x;
	data[i] = i;
	__syncthreads();
	if (threadIdx.x == 0) {
		u32 children = (2 * b + 1 < gridDim.x) + (2 * b + 2 < gridDim.x);
		while (ld_acquire(&up[b]) < children) {}
		if (b > 0) {
			red_release(&up[(b - 1) / 2], 1);
			while (ld_acquire(down) == 0) {}
		} else {
			st_release(down, 1);
		}
	}
	__syncthreads();
	out[i] = data[n - 1 - i];
}

// The first warp waits, the others wait for it.
//! grid_one_warp grid 3x64 small 2x32
//! arg data u32 512 zeros
//! arg out u32 512 zeros
//! arg count u32 1 zeros
//! want out down*192,0*320
extern "C" __global__ void grid_one_warp(u32* data, u32* out, u32* count) {
	u32 i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
	data[i] = i;
	__syncthreads();
	if (threadIdx.x < 32) {
		if (threadIdx.x == 0) {
			fence_acq_rel();
			add_relaxed(count, 1);
			while (ld_relaxed(count) < gridDim.x) {}
			fence_acq_rel();
		}
		__syncwarp();
	}
	__syncthreads();
	out[i] = data[n - 1 - i];
}
