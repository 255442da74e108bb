// Store buffering: each writes its own word and reads the other's.
#include "sync.cuh"

// Of two, one at least sees the other; who sees nobody is alone.
//! dekker_flags dekker 3x32 small 2x1
//! arg flag u32 2 zeros
//! arg x u32 1 zeros
extern "C" __global__ void dekker_flags(u32* flag, u32* x) {
	if (threadIdx.x || blockIdx.x > 1) return;
	st_relaxed(&flag[blockIdx.x], 1);
	fence_sc();
	if (ld_relaxed(&flag[1 - blockIdx.x]) == 0) *x = blockIdx.x + 1;
}

//! dekker_threadfence dekker 3x32 small 2x1
//! arg flag u32 2 zeros
//! arg x u32 1 zeros
extern "C" __global__ void dekker_threadfence(volatile u32* flag, u32* x) {
	if (threadIdx.x || blockIdx.x > 1) return;
	flag[blockIdx.x] = 1;
	__threadfence();
	if (flag[1 - blockIdx.x] == 0) *x += blockIdx.x + 1;
}

// Peterson's lock. The exchange tells the second of the two what the first had written before.
//! peterson dekker 3x32 small 2x1
//! arg flag u32 2 zeros
//! arg turn u32 1 zeros
//! arg count u32 1 zeros
//! want count 2
extern "C" __global__ void peterson(u32* flag, u32* turn, u32* count) {
	u32 me = blockIdx.x, other = 1 - me;
	if (threadIdx.x || me > 1) return;
	st_relaxed(&flag[me], 1);
	exch_acq_rel(turn, other);
	while (ld_acquire(&flag[other]) == 1 && ld_acquire(turn) == other) {}
	*count += 1;
	st_release(&flag[me], 0);
}

// With one fence, as for processors that keep the order of stores: the flag may come after the turn.
//! peterson_one_fence dekker 2x32 small 2x1 wrong
//! arg flag u32 2 zeros
//! arg turn u32 1 zeros
//! arg count u32 1 zeros
extern "C" __global__ void peterson_one_fence(u32* flag, u32* turn, u32* count) {
	u32 me = blockIdx.x, other = 1 - me;
	if (threadIdx.x) return;
	st_relaxed(&flag[me], 1);
	st_relaxed(turn, other);
	fence_sc();
	while (ld_acquire(&flag[other]) == 1 && ld_acquire(turn) == other) {}
	*count += 1;
	st_release(&flag[me], 0);
}

//! peterson_volatile dekker 3x32 small 2x1
//! arg flag u32 2 zeros
//! arg turn u32 1 zeros
//! arg count u32 1 zeros
//! want count 2
extern "C" __global__ void peterson_volatile(volatile u32* flag, volatile u32* turn, u32* count) {
	u32 me = blockIdx.x, other = 1 - me;
	if (threadIdx.x || me > 1) return;
	flag[me] = 1;
	__threadfence();
	*turn = other;
	__threadfence();
	while (flag[other] && *turn == other) {}
	__threadfence();
	*count += 1;
	__threadfence();
	flag[me] = 0;
}

// Dekker's own: who does not have the turn steps back.
//! dekker_turn dekker 2x32 small 2x1
//! arg flag u32 2 zeros
//! arg turn u32 1 zeros
//! arg count u32 1 zeros
//! want count 2
extern "C" __global__ void dekker_turn(u32* flag, u32* turn, u32* count) {
	u32 me = blockIdx.x, other = 1 - me;
	if (threadIdx.x) return;
	st_relaxed(&flag[me], 1);
	fence_sc();
	while (ld_relaxed(&flag[other])) {
		if (ld_relaxed(turn) != me) {
			st_relaxed(&flag[me], 0);
			while (ld_relaxed(turn) != me) {}
			st_relaxed(&flag[me], 1);
			fence_sc();
		}
	}
	fence_acq_rel();
	*count += 1;
	fence_acq_rel();
	st_relaxed(turn, other);
	st_release(&flag[me], 0);
}

// Lamport's bakery.
//! bakery dekker 2x32 small 2x1
//! arg choosing u32 256 zeros
//! arg number u32 256 zeros
//! arg count u32 1 zeros
//! want count 2
extern "C" __global__ void bakery(u32* choosing, u32* number, u32* count) {
	if (threadIdx.x) return;
	u32 me = blockIdx.x, n = 0;
	st_relaxed(&choosing[me], 1);
	fence_sc();
	for (u32 j = 0; j < gridDim.x; j++) n = max(n, ld_relaxed(&number[j]));
	n++;
	st_relaxed(&number[me], n);
	st_release(&choosing[me], 0);
	fence_sc();
	for (u32 j = 0; j < gridDim.x; j++) {
		if (j == me) continue;
		while (ld_acquire(&choosing[j])) {}
		for (;;) {
			u32 other = ld_acquire(&number[j]);
			if (other == 0 || other > n || other == n && j > me) break;
		}
	}
	*count += 1;
	st_release(&number[me], 0);
}

// A hazard pointer: the reader announces what it reads and looks again; the writer unlinks it and
// then looks for announcements before it uses the node again.
//! hazard_pointer dekker 3x32 small 2x1
//! arg node u32 4 0,5,6,0
//! arg root u32 1 1
//! arg hazard u32 1 zeros
//! arg out u32 1 zeros
extern "C" __global__ void hazard_pointer(u32* node, u32* root, u32* hazard, u32* out) {
	if (threadIdx.x) return;
	if (blockIdx.x == 0) {
		u32 p;
		for (;;) {
			p = ld_relaxed(root);
			st_relaxed(hazard, p);
			fence_sc();
			if (ld_acquire(root) == p) break;
		}
		*out = node[p];
		st_release(hazard, 0);
	} else if (blockIdx.x == 1) {
		st_release(root, 2);
		fence_sc();
		while (ld_acquire(hazard) == 1) {}
		node[1] = 99;
	}
}

// Sleep and wake: nobody sleeps while there is work that nobody is woken for.
//! sleep_wake dekker 2x32 small 2x1
//! arg work u32 1 zeros
//! arg asleep u32 1 zeros
//! arg wake u32 1 zeros
//! arg out u32 1 zeros
//! want out 1
extern "C" __global__ void sleep_wake(u32* work, u32* asleep, u32* wake, u32* out) {
	if (threadIdx.x) return;
	if (blockIdx.x == 0) {
		st_relaxed(asleep, 1);
		fence_sc();
		if (ld_relaxed(work) == 0)
			while (ld_relaxed(wake) == 0) __nanosleep(10);
		*out = ld_relaxed(work) | ld_relaxed(wake);
	} else {
		st_relaxed(work, 1);
		fence_sc();
		if (ld_relaxed(asleep)) st_relaxed(wake, 1);
	}
}

// Three in a ring; not all can miss their neighbour.
//! dekker_ring dekker 3x32 small 3x1
//! arg flag u32 3 zeros
//! arg missed u32 1 zeros
//! arg out u32 1 zeros
//! want out 0
extern "C" __global__ void dekker_ring(u32* flag, u32* missed, u32* out) {
	if (threadIdx.x) return;
	st_relaxed(&flag[blockIdx.x], 1);
	fence_sc();
	if (ld_relaxed(&flag[(blockIdx.x + 1) % 3]) == 0 && atomicAdd(missed, 1) == 2) *out = 1;
}

// A try-lock of two flags: both may go without, never both in.
//! dekker_try dekker 4x32 small 2x1
//! arg flag u32 256 zeros
//! arg x u32 32 zeros
extern "C" __global__ void dekker_try(u32* flag, u32* x) {
	__shared__ bool in;
	if (threadIdx.x == 0) {
		st_relaxed(&flag[blockIdx.x], 1);
		fence_sc();
		bool alone = true;
		for (u32 j = 0; j < gridDim.x; j++)
			if (j != blockIdx.x && ld_relaxed(&flag[j])) alone = false;
		in = alone;
	}
	__syncthreads();
	if (in) x[threadIdx.x] += 1;
}
