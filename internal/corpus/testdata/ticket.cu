// Numbers that are given out once.
#include "sync.cuh"

//! ticket_slots ticket 4x32 small 3x1
//! arg out u32 256 zeros
//! arg next u32 1 zeros
//! sorted out 0*252,1,2,3,4
extern "C" __global__ void ticket_slots(u32* out, u32* next) {
	if (threadIdx.x == 0) out[atomicAdd(next, 1)] = blockIdx.x + 1;
}

// A persistent kernel: thread 0 draws the next tile for its CTA.
//! ticket_scheduler ticket 3x32 small 2x1
//! arg out u32 128 zeros
//! arg next u32 1 zeros
//! val 4
//! want out 9*128
extern "C" __global__ void ticket_scheduler(u32* out, u32* next, int tiles) {
	__shared__ int tile;
	for (;;) {
		__syncthreads();
		if (threadIdx.x == 0) tile = atomicAdd(next, 1);
		__syncthreads();
		if (tile >= tiles) return;
		out[tile * blockDim.x + threadIdx.x] = 9;
	}
}

// The next tile is drawn before the present one is worked on.
//! ticket_prefetch ticket 3x32 small 2x1
//! arg out u32 128 zeros
//! arg next u32 1 zeros
//! val 4
//! want out 5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50,51,52,53,54,55,56,57,58,59,60,61,62,63,64,65,66,67,68,69,70,71,72,73,74,75,76,77,78,79,80,81,82,83,84,85,86,87,88,89,90,91,92,93,94,95,96,97,98,99,100,101,102,103,104,105,106,107,108,109,110,111,112,113,114,115,116,117,118,119,120,121,122,123,124,125,126,127,128,129,130,131,132
extern "C" __global__ void ticket_prefetch(u32* out, u32* next, int tiles) {
	__shared__ int ahead[2];
	int tile = blockIdx.x, stage = 0;
	while (tile < tiles) {
		if (threadIdx.x == 0) ahead[stage] = gridDim.x + atomicAdd(next, 1);
		int i = tile * blockDim.x + threadIdx.x;
		out[i] = i + 5;
		__syncthreads();
		tile = ahead[stage];
		stage ^= 1;
	}
}

// One atomic for the lanes of a warp that have something.
//! ticket_warp_aggregated ticket 3x32 small 2x1
//! arg in u32 512 iota
//! arg out u32 512 zeros
//! arg next u32 1 zeros
//! want next 48
extern "C" __global__ void ticket_warp_aggregated(const u32* in, u32* out, u32* next) {
	u32 v = in[blockIdx.x * blockDim.x + threadIdx.x];
	if (v & 1) {
		u32 mask = __activemask(), lane = threadIdx.x & 31, leader = __ffs(mask) - 1, base = 0;
		if (lane == leader) base = atomicAdd(next, __popc(mask));
		base = __shfl_sync(mask, base, leader);
		out[base + __popc(mask & ((1u << lane) - 1))] = v;
	}
}

// The same with a vote: the mask is what the program says, and not who happens to be there.
//! ticket_ballot_append ticket 3x32 small 2x32
//! arg in u32 512 iota
//! arg out u32 512 zeros
//! arg next u32 1 zeros
//! want next 32
//! sorted out 0*481,3,6,9,12,15,18,21,24,27,30,33,36,39,42,45,48,51,54,57,60,63,66,69,72,75,78,81,84,87,90,93
extern "C" __global__ void ticket_ballot_append(const u32* in, u32* out, u32* next) {
	u32 v = in[blockIdx.x * blockDim.x + threadIdx.x], lane = threadIdx.x & 31;
	u32 have = __ballot_sync(~0u, v % 3 == 0), base = 0;
	if (lane == 0) base = atomicAdd(next, __popc(have));
	base = __shfl_sync(~0u, base, 0);
	if (v % 3 == 0) out[base + __popc(have & ((1u << lane) - 1))] = v;
}

// A CTA counts first and takes its range at once.
//! ticket_ranges ticket 4x64 small 2x1
//! arg out u32 1024 zeros
//! arg next u32 1 zeros
//! want next 128
extern "C" __global__ void ticket_ranges(u32* out, u32* next) {
	__shared__ u32 count, base;
	if (threadIdx.x == 0) count = 0;
	__syncthreads();
	u32 mine = 0;
	if (threadIdx.x % 2 == 0) mine = atomicAdd(&count, 1);
	__syncthreads();
	if (threadIdx.x == 0) base = atomicAdd(next, count);
	__syncthreads();
	if (threadIdx.x % 2 == 0) out[base + mine] = blockIdx.x;
}

// A CTA works through its own range, then through those of the others.
//! ticket_stealing ticket 3x32 small 2x1
//! arg out u32 512 zeros
//! arg heads u32 256 zeros
//! want out 1,2,3,0*509
extern "C" __global__ void ticket_stealing(u32* out, u32* heads) {
	__shared__ u32 got;
	for (u32 k = 0; k < gridDim.x; k++) {
		u32 q = (blockIdx.x + k) % gridDim.x;
		for (;;) {
			if (threadIdx.x == 0) got = atomicAdd(&heads[q], 1);
			__syncthreads();
			u32 i = got;
			__syncthreads();
			if (i >= 1) break;
			if (threadIdx.x == 0) out[q] = q + 1;
		}
	}
}

// atomicInc wraps: three places, each taken by two CTAs in turn, and only added to.
//! ticket_wrap ticket 4x32 small 2x1
//! arg out u32 2 zeros
//! arg next u32 1 zeros
//! want out 2,2
//! want next 0
extern "C" __global__ void ticket_wrap(u32* out, u32* next) {
	if (threadIdx.x == 0) atomicAdd(&out[atomicInc(next, 1)], 1);
}

// A bit of a word for each buffer; who sets it has the buffer.
//! ticket_bits ticket 3x32 small 2x1
//! arg out u32 128 zeros
//! arg taken u32 1 zeros
//! want taken 7
//! sorted out 0*32,1*32,2*32,3*32
extern "C" __global__ void ticket_bits(u32* out, u32* taken) {
	__shared__ int mine;
	if (threadIdx.x == 0) {
		int i = 0;
		while (atomicOr(taken, 1u << i) >> i & 1) i++;
		mine = i;
	}
	__syncthreads();
	out[mine * blockDim.x + threadIdx.x] = blockIdx.x + 1;
}

// The last CTA to leave makes the counter ready for the next launch.
//! ticket_reset ticket 3x32 small 2x1
//! arg out u32 4 zeros
//! arg next u32 2 zeros
//! want out 1*4
//! want next 0,0
extern "C" __global__ void ticket_reset(u32* out, u32* next) {
	if (threadIdx.x) return;
	for (;;) {
		u32 i = add_relaxed(&next[0], 1);
		if (i >= 4) break;
		out[i] = 1;
	}
	if (add_acq_rel(&next[1], 1) == gridDim.x - 1) {
		next[0] = 0;
		next[1] = 0;
	}
}
