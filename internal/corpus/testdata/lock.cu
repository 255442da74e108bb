// Mutual exclusion between CTAs.
#include "sync.cuh"

//! lock_cas_spin lock 3x32 small 2x2
//! arg data u32 32 zeros
//! arg lock u32 1 zeros
//! want data 3*32
extern "C" __global__ void lock_cas_spin(u32* data, u32* lock) {
	if (threadIdx.x == 0)
		while (atomicCAS(lock, 0, 1) != 0) {}
	__syncthreads();
	__threadfence();
	data[threadIdx.x] += 1;
	__threadfence();
	__syncthreads();
	if (threadIdx.x == 0) atomicExch(lock, 0);
}

// One thread of each CTA, as in the books.
//! lock_single_thread lock 4x32 small 2x1
//! arg count u32 1 zeros
//! arg lock u32 1 zeros
//! want count 4
extern "C" __global__ void lock_single_thread(u32* count, u32* lock) {
	if (threadIdx.x != 0) return;
	while (atomicExch(lock, 1) != 0) {}
	__threadfence();
	*count = *count + 1;
	__threadfence();
	atomicExch(lock, 0);
}

// Triton's tl.atomic_cas: one thread tries, all get the result by shared memory.
//! lock_triton lock 3x64 small 2x1
//! arg dw f32 64 nan
//! arg lock u32 1 zeros
//! arg count u32 1 zeros
//! want dw 6*64
extern "C" __global__ void lock_triton(float* dw, u32* lock, u32* count) {
	__shared__ u32 got;
	u32 t = threadIdx.x, was;
	float mine = blockIdx.x + 1;
	do {
		if (t == 0) got = cas_acq_rel(lock, 0, 1);
		__syncthreads();
		was = got;
		__syncthreads();
	} while (was == 1);
	u32 n = *count;
	if (n > 0) mine += dw[t];
	__syncthreads();
	if (n == 0 && t == 0) *count = 1;
	dw[t] = mine;
	__syncthreads();
	if (t == 0) exch_acq_rel(lock, 0);
}

//! lock_ticket lock 4x32 small 2x1
//! arg data u32 32 zeros
//! arg next u32 1 zeros
//! arg serving u32 1 zeros
//! want data 4*32
extern "C" __global__ void lock_ticket(u32* data, u32* next, volatile u32* serving) {
	u32 mine = 0;
	if (threadIdx.x == 0) {
		mine = atomicAdd(next, 1);
		while (*serving != mine) {}
		__threadfence();
	}
	__syncthreads();
	data[threadIdx.x] += 1;
	__syncthreads();
	if (threadIdx.x == 0) {
		__threadfence();
		*serving = mine + 1;
	}
}

//! lock_ticket_ptx lock 3x64 small 2x1
//! arg data u32 64 zeros
//! arg next u32 1 zeros
//! arg serving u32 1 zeros
//! want data 6*64
extern "C" __global__ void lock_ticket_ptx(u32* data, u32* next, u32* serving) {
	__shared__ u32 mine;
	if (threadIdx.x == 0) {
		mine = add_relaxed(next, 1);
		while (ld_acquire(serving) != mine) __nanosleep(10);
	}
	__syncthreads();
	data[threadIdx.x] += mine + 1;
	__syncthreads();
	if (threadIdx.x == 0) st_release(serving, mine + 1);
}

//! lock_ttas lock 3x32 small 2x1
//! arg count u32 1 zeros
//! arg lock u32 1 zeros
//! want count 3
extern "C" __global__ void lock_ttas(u32* count, u32* lock) {
	if (threadIdx.x != 0) return;
	for (;;) {
		while (*(volatile u32*)lock != 0) {}
		if (atomicCAS(lock, 0, 1) == 0) break;
	}
	__threadfence();
	*count += 1;
	__threadfence();
	*(volatile u32*)lock = 0;
}

//! lock_backoff lock 3x32 small 2x1
//! arg sum u32 1 zeros
//! arg lock u32 1 zeros
//! want sum 6
extern "C" __global__ void lock_backoff(u32* sum, u32* lock) {
	if (threadIdx.x) return;
	u32 ns = 8;
	while (cas_acquire(lock, 0, 1) == 1) {
		__nanosleep(ns);
		if (ns < 256) ns *= 2;
	}
	*sum += blockIdx.x + 1;
	st_release(lock, 0);
}

//! lock_exch_ptx lock 4x32 small 2x1
//! arg data u32 2 zeros
//! arg lock u32 1 zeros
//! want data 4,10
extern "C" __global__ void lock_exch_ptx(u32* data, u32* lock) {
	if (threadIdx.x == 31 % blockDim.x) {
		while (exch_acquire(lock, 1)) {}
		data[0] += 1;
		data[1] += blockIdx.x + 1;
		exch_release(lock, 0);
	}
}

// The loop that is safe where lanes of a warp fight for one lock.
//! lock_done_flag lock 2x4 small 2x1
//! arg count u32 1 zeros
//! arg lock u32 1 zeros
//! want count 8
extern "C" __global__ void lock_done_flag(u32* count, u32* lock) {
	bool done = false;
	while (!done) {
		if (atomicCAS(lock, 0, 1) == 0) {
			__threadfence();
			*count += 1;
			__threadfence();
			atomicExch(lock, 0);
			done = true;
		}
	}
}

// The queue lock of Mellor-Crummey and Scott; node 0 is nobody.
//! lock_mcs lock 3x32 small 2x1
//! arg count u32 1 zeros
//! arg tail u32 1 zeros
//! arg next u32 256 zeros
//! arg locked u32 256 zeros
//! want count 3
//! want tail 0
extern "C" __global__ void lock_mcs(u32* count, u32* tail, u32* next, u32* locked) {
	if (threadIdx.x) return;
	u32 me = blockIdx.x + 1;
	st_relaxed(&next[me], 0);
	st_relaxed(&locked[me], 1);
	u32 before = exch_acq_rel(tail, me);
	if (before) {
		st_release(&next[before], me);
		while (ld_acquire(&locked[me])) {}
	}
	*count += 1;
	if (ld_acquire(&next[me]) == 0) {
		if (cas_release(tail, me, 0) == me) return;
		while (ld_acquire(&next[me]) == 0) {}
	}
	st_release(&locked[ld_relaxed(&next[me])], 0);
}

// CTA 0 writes, the others read; the high bit is the writer's.
//! lock_readers lock 3x32 small 2x1
//! arg x u32 2 zeros
//! arg out u32 256 zeros
//! arg lock u32 1 zeros
//! want out 0*256
extern "C" __global__ void lock_readers(u32* x, u32* out, u32* lock) {
	if (threadIdx.x) return;
	if (blockIdx.x == 0) {
		while (cas_acquire(lock, 0, 0x80000000u) != 0) {}
		x[0] = 7;
		x[1] = 7;
		red_release(lock, 0x80000000u);
	} else {
		for (;;) {
			u32 n = ld_relaxed(lock);
			if (n < 0x80000000u && cas_acquire(lock, n, n + 1) == n) break;
		}
		out[blockIdx.x] = x[0] - x[1];
		red_release(lock, ~0u);
	}
}

// Two of three bins, each under its own lock, always the lower one first.
//! lock_two_bins lock 3x32 small 2x1
//! arg bins u32 3 zeros
//! arg locks u32 3 zeros
//! want bins 2*3
extern "C" __global__ void lock_two_bins(u32* bins, u32* locks) {
	if (threadIdx.x) return;
	u32 a = blockIdx.x, b = (blockIdx.x + 1) % 3;
	u32 lo = a < b ? a : b, hi = a < b ? b : a;
	while (atomicCAS(&locks[lo], 0, 1)) {}
	while (atomicCAS(&locks[hi], 0, 1)) {}
	__threadfence();
	bins[lo]++;
	bins[hi]++;
	__threadfence();
	atomicExch(&locks[hi], 0);
	atomicExch(&locks[lo], 0);
}

// A sequence lock: the reader tries again until it has both words of one version.
//! lock_sequence lock 3x32 small 2x1
//! arg seq u32 1 zeros
//! arg x u32 2 zeros
//! arg out u32 256 zeros
//! want out 0*256
extern "C" __global__ void lock_sequence(u32* seq, u32* x, u32* out) {
	if (threadIdx.x) return;
	if (blockIdx.x == 0) {
		st_relaxed(seq, 1);
		fence_acq_rel();
		st_relaxed(&x[0], 5);
		st_relaxed(&x[1], 5);
		st_release(seq, 2);
		return;
	}
	u32 a, b, before, after;
	do {
		before = ld_acquire(seq);
		a = ld_relaxed(&x[0]);
		b = ld_relaxed(&x[1]);
		fence_acq_rel();
		after = ld_relaxed(seq);
	} while (before != after || before & 1);
	out[blockIdx.x] = a - b;
}
