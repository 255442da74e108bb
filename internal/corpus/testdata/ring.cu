// Rings and mailboxes between CTAs, in global memory.
#include "sync.cuh"

// One producer, one consumer; head and tail are counts.
//! ring_spsc ring 3x32 small 2x1
//! arg buf u32 2 zeros
//! arg head u32 1 zeros
//! arg tail u32 1 zeros
//! arg out u32 8 zeros
//! val 3
//! want out 1,2,3,0*5
extern "C" __global__ void ring_spsc(u32* buf, u32* head, u32* tail, u32* out, u32 items) {
	if (threadIdx.x) return;
	if (blockIdx.x == 0) {
		for (u32 i = 0; i < items; i++) {
			while (i - ld_acquire(tail) >= 2) {}
			buf[i % 2] = i + 1;
			st_release(head, i + 1);
		}
	} else if (blockIdx.x == 1) {
		for (u32 i = 0; i < items; i++) {
			while (ld_acquire(head) <= i) {}
			out[i] = buf[i % 2];
			st_release(tail, i + 1);
		}
	}
}

//! ring_spsc_fences ring 3x32 small 2x1
//! arg buf u32 2 zeros
//! arg head u32 1 zeros
//! arg tail u32 1 zeros
//! arg out u32 8 zeros
//! val 3
//! want out 1,2,3,0*5
extern "C" __global__ void ring_spsc_fences(volatile u32* buf, volatile u32* head, volatile u32* tail, u32* out, u32 items) {
	if (threadIdx.x) return;
	if (blockIdx.x == 0) {
		for (u32 i = 0; i < items; i++) {
			while (i - *tail == 2) {}
			__threadfence();
			buf[i & 1] = i + 1;
			__threadfence();
			*head = i + 1;
		}
	} else if (blockIdx.x == 1) {
		for (u32 i = 0; i < items; i++) {
			while (*head == i) {}
			__threadfence();
			out[i] = buf[i & 1];
			__threadfence();
			*tail = i + 1;
		}
	}
}

// A flag for each slot says whether it is full.
//! ring_slot_flags ring 3x32 small 2x1
//! arg buf u32 64 zeros
//! arg full u32 2 zeros
//! arg out u32 128 zeros
//! val 3
//! want out 1*32,2*32,3*32,0*32
extern "C" __global__ void ring_slot_flags(u32* buf, u32* full, u32* out, u32 items) {
	u32 t = threadIdx.x;
	if (blockIdx.x > 1) return;
	for (u32 i = 0; i < items; i++) {
		u32 s = i & 1;
		if (blockIdx.x == 0) {
			if (t == 0)
				while (ld_acquire(&full[s])) {}
			__syncthreads();
			buf[s * blockDim.x + t] = i + 1;
			__syncthreads();
			if (t == 0) st_release(&full[s], 1);
		} else {
			if (t == 0)
				while (!ld_acquire(&full[s])) {}
			__syncthreads();
			out[i * blockDim.x + t] = buf[s * blockDim.x + t];
			__syncthreads();
			if (t == 0) st_release(&full[s], 0);
		}
	}
}

// Phases in place of flags that are set back: item i fills slot i%2 for the (i/2)th time.
//! ring_phases ring 2x64 small 2x1
//! arg buf u32 128 zeros
//! arg full u32 2 zeros
//! arg empty u32 2 zeros
//! arg out u32 256 zeros
//! val 4
//! want out 0*64,10*64,20*64,30*64
extern "C" __global__ void ring_phases(u32* buf, u32* full, u32* empty, u32* out, u32 items) {
	u32 t = threadIdx.x;
	for (u32 i = 0; i < items; i++) {
		u32 s = i % 2, turn = i / 2;
		if (blockIdx.x == 0) {
			if (t == 0) {
				while (ld_relaxed(&empty[s]) != turn) {}
				fence_acq_rel();
			}
			__syncthreads();
			buf[s * blockDim.x + t] = 10 * i;
			__syncthreads();
			if (t == 0) {
				fence_acq_rel();
				red_relaxed(&full[s], 1);
			}
		} else {
			if (t == 0) {
				while (ld_relaxed(&full[s]) != turn + 1) {}
				fence_acq_rel();
			}
			__syncthreads();
			out[i * blockDim.x + t] = buf[s * blockDim.x + t];
			__syncthreads();
			if (t == 0) {
				fence_acq_rel();
				red_relaxed(&empty[s], 1);
			}
		}
	}
}

// Vyukov's queue: many producers, one consumer, a sequence number in each cell.
//! ring_mpsc ring 3x32 small 2x1
//! arg cell u32 2 zeros
//! arg seq u32 2 0,1
//! arg head u32 1 zeros
//! arg out u32 1 zeros
//! want out 3
extern "C" __global__ void ring_mpsc(u32* cell, u32* seq, u32* head, u32* out) {
	if (threadIdx.x) return;
	if (blockIdx.x > 0) {
		u32 pos = atomicAdd(head, 1), s = pos % 2;
		while (ld_acquire(&seq[s]) != pos) {}
		cell[s] = blockIdx.x;
		st_release(&seq[s], pos + 1);
	} else {
		u32 sum = 0;
		for (u32 pos = 0; pos < gridDim.x - 1; pos++) {
			u32 s = pos % 2;
			while (ld_acquire(&seq[s]) != pos + 1) {}
			sum += cell[s];
			st_release(&seq[s], pos + 2);
		}
		*out = sum;
	}
}

// A pipeline: each CTA takes from the one before it and gives to the next.
//! ring_pipeline ring 4x32 small 3x1
//! arg box u32 1024 zeros
//! arg full u32 256 zeros
//! arg out u32 32 zeros
//! want out 4*32
extern "C" __global__ void ring_pipeline(u32* box, u32* full, u32* out) {
	u32 b = blockIdx.x, t = threadIdx.x, v = 1;
	if (b > 0) {
		if (t == 0)
			while (ld_acquire(&full[b - 1]) == 0) __nanosleep(16);
		__syncthreads();
		v += box[(b - 1) * blockDim.x + t];
	}
	if (b == gridDim.x - 1) {
		out[t] = v;
		return;
	}
	box[b * blockDim.x + t] = v;
	__syncthreads();
	if (t == 0) st_release(&full[b], 1);
}

// Several items under one release.
//! ring_batch ring 3x32 small 2x1
//! arg buf u32 8 zeros
//! arg head u32 1 zeros
//! arg out u32 1 zeros
//! want out 36
extern "C" __global__ void ring_batch(u32* buf, u32* head, u32* out) {
	if (threadIdx.x || blockIdx.x > 1) return;
	if (blockIdx.x == 0) {
		for (u32 i = 0; i < 8; i++) {
			buf[i] = i + 1;
			if (i % 4 == 3) {
				__threadfence();
				*(volatile u32*)head = i + 1;
			}
		}
	} else {
		u32 sum = 0, i = 0;
		while (i < 8) {
			u32 end = *(volatile u32*)head;
			__threadfence();
			for (; i < end; i++) sum += buf[i];
		}
		*out = sum;
	}
}

// Credits: the consumer gives back room by a reduction.
//! ring_credits ring 2x32 small 2x1
//! arg buf u32 2 zeros
//! arg filled u32 1 zeros
//! arg credit u32 1 2
//! arg out u32 4 zeros
//! want out 5,6,7,8
extern "C" __global__ void ring_credits(u32* buf, u32* filled, u32* credit, u32* out) {
	if (threadIdx.x) return;
	for (u32 i = 0; i < 4; i++) {
		if (blockIdx.x == 0) {
			while (ld_acquire(credit) == 0) {}
			red_relaxed(credit, ~0u);
			buf[i & 1] = i + 5;
			red_release(filled, 1);
		} else {
			while (ld_acquire(filled) < i + 1) {}
			out[i] = buf[i & 1];
			red_release(credit, 1);
		}
	}
}

// A ball goes to and fro.
//! ring_mailbox ring 2x32 small 2x1
//! arg ball u32 1 zeros
//! arg whose u32 1 zeros
//! val 4
//! want ball 4
extern "C" __global__ void ring_mailbox(u32* ball, u32* whose, u32 hits) {
	if (threadIdx.x) return;
	for (u32 i = blockIdx.x; i < hits; i += 2) {
		while (ld_acquire_sys(whose) != i) {}
		*ball += 1;
		st_release_sys(whose, i + 1);
	}
}

// Item and sequence number in one word of 64 bits: no fence at all.
//! ring_packed ring 3x32 small 2x1
//! arg slot u64 2 zeros
//! arg out u32 4 zeros
//! want out 11,22,0,0
extern "C" __global__ void ring_packed(u64* slot, u32* out) {
	if (threadIdx.x || blockIdx.x > 1) return;
	for (u32 i = 0; i < 2; i++) {
		if (blockIdx.x == 0) {
			st_relaxed64(&slot[i], (u64)(i + 1) << 32 | 11 * (i + 1));
		} else {
			u64 w;
			while ((w = ld_relaxed64(&slot[i])) >> 32 != i + 1) {}
			out[i] = (u32)w;
		}
	}
}
