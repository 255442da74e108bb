// One of several is chosen.
#include "sync.cuh"

//! elect_cas election 4x32 small 3x1
//! arg leader u32 1 zeros
//! arg out u32 1 zeros
//! want out 77
extern "C" __global__ void elect_cas(u32* leader, u32* out) {
	if (threadIdx.x == 0 && atomicCAS(leader, 0, blockIdx.x + 1) == 0) *out = 77;
}

// Who comes first makes the table, the others wait for it.
//! elect_call_once election 3x32 small 2x1
//! arg state u32 1 zeros
//! arg table u32 2 zeros
//! arg out u32 256 zeros
//! want out 30*3,0*253
extern "C" __global__ void elect_call_once(u32* state, u32* table, u32* out) {
	if (threadIdx.x) return;
	u32 s = cas_acquire(state, 0, 1);
	if (s == 0) {
		table[0] = 10;
		table[1] = 20;
		st_release(state, 2);
	} else {
		while (s != 2) s = ld_acquire(state);
	}
	out[blockIdx.x] = table[0] + table[1];
}

//! elect_once_threadfence election 3x64 small 2x2
//! arg state u32 1 zeros
//! arg table u32 64 zeros
//! arg out u32 512 zeros
//! want out 6*192,0*320
extern "C" __global__ void elect_once_threadfence(volatile u32* state, u32* table, u32* out) {
	__shared__ bool first;
	u32 t = threadIdx.x;
	if (t == 0) first = atomicCAS((u32*)state, 0, 1) == 0;
	__syncthreads();
	if (first) {
		table[t] = 6;
		__threadfence();
		__syncthreads();
		if (t == 0) atomicAdd((u32*)state, 2);
	} else if (t == 0) {
		while (*state < 2) {}
	}
	__syncthreads();
	__threadfence();
	out[blockIdx.x * blockDim.x + t] = table[t];
}

// The lowest lane that is there leads its warp.
//! elect_lane election 3x32 small 2x4
//! arg sum u32 1 zeros
//! want sum 48
extern "C" __global__ void elect_lane(u32* sum) {
	if (threadIdx.x & 1) {
		u32 mask = __activemask();
		if ((threadIdx.x & 31) == __ffs(mask) - 1) atomicAdd(sum, __popc(mask));
	}
}

//! elect_sync_leader election 4x64 small 2x32
//! arg out u32 256 zeros
//! want out 1,1,1,1,1,1,1,1,0*248
extern "C" __global__ void elect_sync_leader(u32* out) {
	u32 is;
	asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(is));
	if (is) out[blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32] = 1;
}

//! elect_first_arriver election 4x32 small 3x1
//! arg count u32 1 zeros
//! arg out u32 32 zeros
//! want out 5*32
//! want count 4
extern "C" __global__ void elect_first_arriver(u32* count, u32* out) {
	__shared__ u32 rank;
	if (threadIdx.x == 0) rank = atomicAdd(count, 1);
	__syncthreads();
	if (rank == 0) out[threadIdx.x] = 5;
}

// The one with the largest key, known once all have voted.
//! elect_maximum election 4x32 small 2x1
//! arg best u32 1 zeros
//! arg votes u32 1 zeros
//! arg out u32 1 zeros
//! want out 1
extern "C" __global__ void elect_maximum(u32* best, u32* votes, u32* out) {
	if (threadIdx.x) return;
	u32 key = (blockIdx.x * 7 + 3) % 16 << 8 | blockIdx.x;
	atomicMax(best, key);
	red_release(votes, 1);
	while (ld_acquire(votes) != gridDim.x) {}
	if (ld_relaxed(best) == key) *out = blockIdx.x;
}

// A minimum by a loop of compare-and-swap, as for types that have no atomic.
//! elect_minimum_loop election 3x32 small 2x1
//! arg best f32 1 1000
//! want best 4
extern "C" __global__ void elect_minimum_loop(float* best) {
	if (threadIdx.x) return;
	float mine = 4 + blockIdx.x;
	u32 *p = (u32*)best, old = *(volatile u32*)p;
	while (__uint_as_float(old) > mine) {
		u32 was = atomicCAS(p, old, __float_as_uint(mine));
		if (was == old) break;
		old = was;
	}
}

// A pointer to what the winner has made; the losers take the winner's.
//! elect_publish election 3x32 small 2x1
//! arg node u32 256 zeros
//! arg root u32 1 zeros
//! arg out u32 256 zeros
//! want out 9,9,9,0*253
extern "C" __global__ void elect_publish(u32* node, u32* root, u32* out) {
	if (threadIdx.x) return;
	u32 mine = blockIdx.x + 1, seen = ld_acquire(root);
	if (seen == 0) {
		node[mine] = 9;
		seen = cas_acq_rel(root, 0, mine);
		if (seen == 0) seen = mine;
	}
	out[blockIdx.x] = node[seen];
}

// The winner of each round is who came last in it.
//! elect_last_of_round election 3x32 small 2x1
//! arg arrived u32 1 zeros
//! arg round u32 1 zeros
//! arg wins u32 1 zeros
//! want wins 2
extern "C" __global__ void elect_last_of_round(u32* arrived, u32* round, u32* wins) {
	if (threadIdx.x) return;
	for (u32 r = 0; r < 2; r++) {
		if (add_acq_rel(arrived, 1) == gridDim.x * (r + 1) - 1) {
			*wins += 1;
			st_release(round, r + 1);
		} else {
			while (ld_acquire(round) <= r) {}
		}
	}
}
