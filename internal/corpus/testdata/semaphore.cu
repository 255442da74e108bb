// Split-K and stream-K: CTAs that share a tile of the output take turns, or hand over partial sums.
#include "sync.cuh"

// CUTLASS's Semaphore: one thread reads, the whole CTA decides.
struct Semaphore {
	u32* lock;
	bool wait_thread;
	u32 state;
	__device__ Semaphore(u32* l, int t) : lock(l), wait_thread(t == 0), state(~0u) {}
	__device__ void fetch() {
		if (wait_thread) state = ld_acquire(lock);
	}
	__device__ void wait(u32 status) {
		while (__syncthreads_and(state != status)) fetch();
		__syncthreads();
	}
	__device__ void release(u32 status) {
		__syncthreads();
		if (wait_thread) st_release(lock, status);
	}
};

//! sem_cutlass_turns semaphore 3x64 small 2x1
//! arg data u32 64 iota
//! arg flag u32 1 zeros
//! want data 3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50,51,52,53,54,55,56,57,58,59,60,61,62,63,64,65,66
extern "C" __global__ void sem_cutlass_turns(u32* data, u32* flag) {
	Semaphore s(flag, threadIdx.x);
	s.fetch();
	s.wait(blockIdx.x);
	data[threadIdx.x] += 1;
	s.release(blockIdx.x + 1);
}

//! sem_cutlass_splitk semaphore 3x64 small 2x1
//! arg out f32 64 nan
//! arg part f32 512 ones
//! arg flag u32 1 zeros
//! want out 3*64
extern "C" __global__ void sem_cutlass_splitk(float* out, const float* part, u32* flag) {
	Semaphore s(flag, threadIdx.x);
	s.fetch();
	float acc = part[blockIdx.x * blockDim.x + threadIdx.x];
	s.wait(blockIdx.x);
	if (blockIdx.x > 0) acc += out[threadIdx.x];
	out[threadIdx.x] = acc;
	s.release(blockIdx.x + 1 == gridDim.x ? 0 : blockIdx.x + 1);
}

// CUTLASS's GenericBarrier, as stream-K uses it.
struct GenericBarrier {
	static __device__ void wait_eq(u32* flag, int t, u32 val) {
		if (t == 0)
			while (ld_acquire(flag) != val) {}
		__syncthreads();
	}
	static __device__ void wait_lt(u32* flag, int t, u32 count) {
		if (t == 0)
			while (ld_acquire(flag) < count) {}
		__syncthreads();
	}
	static __device__ void wait_eq_reset(u32* flag, int t, u32 val) {
		if (t == 0) {
			while (atomicCAS(flag, val, 0) != val) {}
			__threadfence();
		}
		__syncthreads();
	}
	static __device__ void arrive_inc(u32* flag, int t) {
		__syncthreads();
		if (t == 0) red_release(flag, 1);
	}
};

//! sem_streamk_fixup semaphore 4x64 small 2x1
//! arg out f32 64 nan
//! arg work f32 512 nan
//! arg flag u32 1 zeros
//! want out 10*64
extern "C" __global__ void sem_streamk_fixup(float* out, float* work, u32* flag) {
	int t = threadIdx.x, n = gridDim.x - 1;
	float acc = blockIdx.x + 1;
	if (blockIdx.x < n) {
		work[blockIdx.x * blockDim.x + t] = acc;
		GenericBarrier::arrive_inc(flag, t);
		return;
	}
	GenericBarrier::wait_eq(flag, t, n);
	for (int i = 0; i < n; i++) acc += work[i * blockDim.x + t];
	out[t] = acc;
}

// Each peer adds to the same tile in workspace, in order of its index.
//! sem_streamk_ordered semaphore 3x64 small 2x1
//! arg out f32 64 nan
//! arg work f32 64 nan
//! arg flag u32 1 zeros
//! want out 6*64
extern "C" __global__ void sem_streamk_ordered(float* out, float* work, u32* flag) {
	int t = threadIdx.x, k = blockIdx.x;
	float acc = k + 1;
	if (k == 0) {
		work[t] = acc;
	} else {
		GenericBarrier::wait_lt(flag, t, k);
		if (k + 1 < gridDim.x)
			work[t] += acc;
		else
			out[t] = work[t] + acc;
	}
	GenericBarrier::arrive_inc(flag, t);
}

//! sem_wait_eq_reset semaphore 3x32 small 2x1
//! arg out u32 32 zeros
//! arg work u32 512 zeros
//! arg flag u32 1 zeros
//! want out 12*32
//! want flag 0
extern "C" __global__ void sem_wait_eq_reset(u32* out, u32* work, u32* flag) {
	int t = threadIdx.x, n = gridDim.x - 1;
	if (blockIdx.x > 0) {
		work[(blockIdx.x - 1) * blockDim.x + t] = 6;
		GenericBarrier::arrive_inc(flag, t);
		return;
	}
	GenericBarrier::wait_eq_reset(flag, t, n);
	u32 acc = 0;
	for (int i = 0; i < n; i++) acc += work[i * blockDim.x + t];
	out[t] = acc;
}

// Before sm_70: volatile polls and __threadfence.
//! sem_streamk_threadfence semaphore 4x32 small 2x2
//! arg out u32 32 zeros
//! arg work u32 512 zeros
//! arg flag u32 1 zeros
//! want out 6*32
extern "C" __global__ void sem_streamk_threadfence(u32* out, u32* work, volatile u32* flag) {
	int t = threadIdx.x, n = gridDim.x - 1;
	if (blockIdx.x < n) {
		work[blockIdx.x * blockDim.x + t] = blockIdx.x + 1;
		__threadfence();
		__syncthreads();
		if (t == 0) atomicAdd((u32*)flag, 1);
		return;
	}
	if (t == 0)
		while (*flag != n) {}
	__syncthreads();
	__threadfence();
	u32 acc = 0;
	for (int i = 0; i < n; i++) acc += work[i * blockDim.x + t];
	out[t] = acc;
}

// The deterministic backward pass of attention: dq is added to in the order of the blocks.
//! sem_dq_turns semaphore 4x32 small 2x2
//! arg dq f32 32 zeros
//! arg turn u32 1 zeros
//! want dq 10*32
extern "C" __global__ void sem_dq_turns(float* dq, u32* turn) {
	if (threadIdx.x == 0)
		while (atomicAdd(turn, 0) != blockIdx.x) __nanosleep(20);
	__syncthreads();
	__threadfence();
	dq[threadIdx.x] += blockIdx.x + 1;
	__threadfence();
	__syncthreads();
	if (threadIdx.x == 0) atomicAdd(turn, 1);
}

// A counting semaphore with two permits; each CTA in it has a buffer of its own.
//! sem_counting semaphore 3x32 small 2x1
//! arg out u32 512 zeros
//! arg permits u32 1 2
//! want permits 2
//! want out 1*32,2*32,3*32,0*416
extern "C" __global__ void sem_counting(u32* out, u32* permits) {
	if (threadIdx.x == 0) {
		u32 have = ld_relaxed(permits);
		for (;;) {
			if (have == 0) {
				have = ld_relaxed(permits);
				continue;
			}
			u32 was = cas_acquire(permits, have, have - 1);
			if (was == have) break;
			have = was;
		}
	}
	__syncthreads();
	out[blockIdx.x * blockDim.x + threadIdx.x] = blockIdx.x + 1;
	__syncthreads();
	if (threadIdx.x == 0) red_release(permits, 1);
}

// Rows of a second product wait until all tiles of the first product's row are there.
//! sem_row_ready semaphore 5x32 small 3x1
//! arg mid u32 512 zeros
//! arg out u32 32 zeros
//! arg ready u32 1 zeros
//! want out 10*32
extern "C" __global__ void sem_row_ready(u32* mid, u32* out, u32* ready) {
	u32 tiles = gridDim.x - 1, t = threadIdx.x;
	if (blockIdx.x < tiles) {
		mid[blockIdx.x * blockDim.x + t] = blockIdx.x + 1;
		__syncthreads();
		if (t == 0) {
			fence_acq_rel();
			red_relaxed(ready, 1);
		}
	} else {
		if (t == 0) {
			while (ld_relaxed(ready) < tiles) {}
			fence_acq_rel();
		}
		__syncthreads();
		u32 sum = 0;
		for (u32 i = 0; i < tiles; i++) sum += mid[i * blockDim.x + t];
		out[t] = sum;
	}
}

// One warp for each slice of K, and no barrier of a CTA.
//! sem_warp_turns semaphore 4x32 small 2x32
//! arg out u32 32 zeros
//! arg turn u32 1 zeros
//! want out 4*32
extern "C" __global__ void sem_warp_turns(u32* out, volatile u32* turn) {
	u32 lane = threadIdx.x;
	if (lane == 0) {
		while (*turn != blockIdx.x) {}
		__threadfence();
	}
	__syncwarp();
	out[lane] += 1;
	__syncwarp();
	if (lane == 0) {
		__threadfence();
		*turn = blockIdx.x + 1;
	}
}
