// Prefix sums in one pass: a tile looks back at what the tiles before it have published.
#include "sync.cuh"

enum { NONE, PART, ALL };

// Each waits for the one before it.
//! look_chain lookback 4x32 small 3x1
//! arg out u32 256 zeros
//! arg sum u32 256 zeros
//! arg flag u32 256 zeros
//! want out 1,3,6,10,0*252
extern "C" __global__ void look_chain(u32* out, u32* sum, volatile u32* flag) {
	if (threadIdx.x) return;
	u32 b = blockIdx.x, v = b + 1;
	if (b > 0) {
		while (flag[b - 1] == 0) {}
		__threadfence();
		v += sum[b - 1];
	}
	sum[b] = v;
	__threadfence();
	flag[b] = 1;
	out[b] = v;
}

//! look_chain_acquire lookback 5x32 small 3x1
//! arg out u32 256 zeros
//! arg sum u32 256 zeros
//! arg flag u32 256 zeros
//! want out 1,3,6,10,15,0*251
extern "C" __global__ void look_chain_acquire(u32* out, u32* sum, u32* flag) {
	__shared__ u32 before;
	u32 b = blockIdx.x;
	if (threadIdx.x == 0) {
		u32 v = 0;
		if (b > 0) {
			while (ld_acquire(&flag[b - 1]) == 0) {}
			v = sum[b - 1];
		}
		before = v;
		sum[b] = v + b + 1;
		st_release(&flag[b], 1);
	}
	__syncthreads();
	if (threadIdx.x == blockDim.x - 1) out[b] = before + b + 1;
}

// Merrill and Garland: own sum first, then sums backwards until one includes all before it.
//! look_decoupled lookback 3x32 small 3x1
//! arg out u32 256 zeros
//! arg part u32 256 zeros
//! arg all u32 256 zeros
//! arg status u32 256 zeros
//! want out 1,3,6,0*253
extern "C" __global__ void look_decoupled(u32* out, u32* part, u32* all, volatile u32* status) {
	if (threadIdx.x) return;
	int b = blockIdx.x;
	u32 v = b + 1, before = 0;
	if (b == 0) {
		all[0] = v;
		__threadfence();
		status[0] = ALL;
	} else {
		part[b] = v;
		__threadfence();
		status[b] = PART;
		for (int i = b - 1;; i--) {
			u32 s;
			while ((s = status[i]) == NONE) {}
			__threadfence();
			if (s == ALL) {
				before += all[i];
				break;
			}
			before += part[i];
		}
		all[b] = before + v;
		__threadfence();
		status[b] = ALL;
	}
	out[b] = before + v;
}

// CUB's: status and value are one word of 64 bits, so that nothing needs to be ordered.
//! look_packed lookback 4x32 small 3x1
//! arg out u32 256 zeros
//! arg tiles u64 256 zeros
//! want out 1,3,6,10,0*252
extern "C" __global__ void look_packed(u32* out, u64* tiles) {
	if (threadIdx.x) return;
	int b = blockIdx.x;
	u32 v = b + 1, before = 0;
	if (b > 0) {
		st_relaxed64(&tiles[b], (u64)PART << 32 | v);
		for (int i = b - 1;; i--) {
			u64 w;
			do w = ld_relaxed64(&tiles[i]);
			while (w >> 32 == NONE);
			before += (u32)w;
			if (w >> 32 == ALL) break;
		}
	}
	st_relaxed64(&tiles[b], (u64)ALL << 32 | (before + v));
	out[b] = before + v;
}

//! look_packed_volatile lookback 3x64 small 3x1
//! arg out u32 512 zeros
//! arg tiles u64 256 zeros
//! want out 1*64,2*64,3*64,0*320
extern "C" __global__ void look_packed_volatile(u32* out, volatile u64* tiles) {
	__shared__ u32 prefix;
	int b = blockIdx.x;
	if (threadIdx.x == 0) {
		u32 before = 0;
		if (b == 0) {
			tiles[0] = (u64)ALL << 32 | 1;
		} else {
			tiles[b] = (u64)PART << 32 | 1;
			for (int i = b - 1; i >= 0; i--) {
				u64 w = tiles[i];
				while ((u32)(w >> 32) == NONE) {
					__nanosleep(50);
					w = tiles[i];
				}
				before += (u32)w;
				if ((u32)(w >> 32) == ALL) break;
			}
			tiles[b] = (u64)ALL << 32 | (before + 1);
		}
		prefix = before;
	}
	__syncthreads();
	out[b * blockDim.x + threadIdx.x] = prefix + 1;
}

// A whole warp looks at the tiles before it at once.
//! look_window lookback 3x32 small 2x32
//! arg out u32 256 zeros
//! arg tiles u64 256 zeros
//! want out 1,3,6,0*253
extern "C" __global__ void look_window(u32* out, u64* tiles) {
	int b = blockIdx.x, lane = threadIdx.x;
	u32 v = b + 1, before = 0;
	if (b > 0) {
		if (lane == 0) st_relaxed64(&tiles[b], (u64)PART << 32 | v);
		int i = b - 1 - lane;
		u64 w = (u64)ALL << 32;
		do {
			if (i >= 0) w = ld_relaxed64(&tiles[i]);
		} while (__any_sync(~0u, w >> 32 == NONE));
		u32 all = __ballot_sync(~0u, w >> 32 == ALL);
		u32 add = lane <= __ffs(all) - 1 ? (u32)w : 0;
		for (int d = 16; d > 0; d /= 2) add += __shfl_down_sync(~0u, add, d);
		before = __shfl_sync(~0u, add, 0);
	}
	if (lane == 0) {
		st_relaxed64(&tiles[b], (u64)ALL << 32 | (before + v));
		out[b] = before + v;
	}
}

// The tile's number is drawn, so that those before it have started.
//! look_ticket lookback 3x32 small 2x1
//! arg out u32 256 zeros
//! arg sum u32 256 zeros
//! arg flag u32 256 zeros
//! arg next u32 1 zeros
//! want out 1,3,6,0*253
extern "C" __global__ void look_ticket(u32* out, u32* sum, u32* flag, u32* next) {
	if (threadIdx.x) return;
	u32 b = atomicAdd(next, 1), v = b + 1;
	if (b > 0) {
		while (ld_acquire(&flag[b - 1]) == 0) {}
		v += sum[b - 1];
	}
	sum[b] = v;
	st_release(&flag[b], 1);
	out[b] = v;
}

// A running maximum; the value is in the flag, offset by one.
//! look_maximum lookback 4x32 small 3x1
//! arg in u32 8 5,2,9,1,0,0,0,0
//! arg out u32 256 zeros
//! arg state u32 256 zeros
//! want out 5,5,9,9,0*252
extern "C" __global__ void look_maximum(const u32* in, u32* out, u32* state) {
	if (threadIdx.x) return;
	u32 b = blockIdx.x, v = in[b];
	if (b > 0) {
		u32 w;
		while ((w = ld_relaxed(&state[b - 1])) == 0) {}
		v = max(v, w - 1);
	}
	st_relaxed(&state[b], v + 1);
	out[b] = v;
}

// Two values to carry, published under one flag.
//! look_pair lookback 4x32 small 3x1
//! arg out u32 512 zeros
//! arg sum u32 256 zeros
//! arg runs u32 256 zeros
//! arg flag u32 256 zeros
//! want out 1,1,3,2,6,3,10,4,0*504
extern "C" __global__ void look_pair(u32* out, u32* sum, u32* runs, u32* flag) {
	if (threadIdx.x) return;
	u32 b = blockIdx.x, s = b + 1, r = 1;
	if (b > 0) {
		while (ld_relaxed(&flag[b - 1]) == 0) {}
		fence_acq_rel();
		s += sum[b - 1];
		r += runs[b - 1];
	}
	sum[b] = s;
	runs[b] = r;
	fence_acq_rel();
	st_relaxed(&flag[b], 1);
	out[2 * b] = s;
	out[2 * b + 1] = r;
}

// One counter says how many tiles are through.
//! look_counter lookback 4x32 small 3x1
//! arg out u32 128 zeros
//! arg sum u32 1 zeros
//! arg through u32 1 zeros
//! want out 1*32,3*32,6*32,10*32
extern "C" __global__ void look_counter(u32* out, u32* sum, u32* through) {
	__shared__ u32 total;
	if (threadIdx.x == 0) {
		while (ld_acquire(through) != blockIdx.x) {}
		total = *sum + blockIdx.x + 1;
		*sum = total;
		red_release(through, 1);
	}
	__syncthreads();
	out[blockIdx.x * blockDim.x + threadIdx.x] = total;
}

// Adjacent tiles exchange what a tile ends with, and nothing goes further.
//! look_halo lookback 4x32 small 3x1
//! arg in u32 128 iota
//! arg out u32 128 zeros
//! arg edge u32 256 zeros
//! arg flag u32 256 zeros
//! want out 0,1*127
extern "C" __global__ void look_halo(const u32* in, u32* out, u32* edge, u32* flag) {
	u32 t = threadIdx.x, b = blockIdx.x, i = b * blockDim.x + t, v = in[i];
	if (t == blockDim.x - 1) {
		edge[b] = v;
		st_release(&flag[b], 1);
	}
	u32 left = 0;
	if (t > 0) left = in[i - 1];
	if (t == 0 && b > 0) {
		while (!ld_acquire(&flag[b - 1])) {}
		left = edge[b - 1];
	}
	out[i] = v - left;
}
