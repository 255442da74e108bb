// Warps that arrive at a named barrier and then sync at it in the same generation.
// nvcc -arch=sm_90a -o named_twice named_twice.cu && ./named_twice
#include <cstdio>
// 128 threads arrive, then sync: 256 in one generation (FlashAttention-3's 128+128).
__global__ void alone(int iters, int *out) {
	__shared__ volatile int s[128];
	int bad = 0;
	for (int i = 0; i < iters; i++) {
		s[threadIdx.x] = i;
		asm volatile("bar.arrive 1, 256;" ::: "memory");
		if (threadIdx.x / 32 == i % 4) { long long t = clock64(); while (clock64() - t < 500); }
		asm volatile("bar.sync 1, 256;" ::: "memory");
		bad += s[threadIdx.x ^ 96] != i;
		__syncthreads();
	}
	if (bad) atomicAdd(out, bad);
}
// Two warps arrive twice each, a third one syncs: 160 in one generation.
__global__ void twice(int iters, int *out) {
	__shared__ volatile int s[64];
	int bad = 0, w = threadIdx.x / 32;
	for (int i = 0; i < iters; i++) {
		if (w < 2) {
			s[threadIdx.x] = i;
			asm volatile("bar.arrive 1, 160;" ::: "memory");
			asm volatile("bar.arrive 1, 160;" ::: "memory");
		} else {
			asm volatile("bar.sync 1, 160;" ::: "memory");
			bad += s[threadIdx.x - 64] != i || s[threadIdx.x - 32] != i;
		}
		__syncthreads();
	}
	if (bad) atomicAdd(out, bad);
}
// 256 arrive and 32 sync, then the 32 arrive and the 256 sync, on two barriers: FlashAttention-3's 256+32.
__global__ void turns(int iters, int *out) {
	__shared__ volatile int a, b;
	int bad = 0;
	if (threadIdx.x >= 256) {
		for (int i = 0; i < iters; i++) {
			asm volatile("bar.sync 1, 288;" ::: "memory");
			bad += b != i;
			if (threadIdx.x == 256) a = i;
			asm volatile("bar.arrive 2, 288;" ::: "memory");
		}
	} else {
		for (int i = 0; i < iters; i++) {
			if (threadIdx.x == 0) b = i;
			asm volatile("bar.arrive 1, 288;" ::: "memory");
			asm volatile("bar.sync 2, 288;" ::: "memory");
			bad += a != i;
			asm volatile("bar.sync 3, 256;" ::: "memory");
		}
	}
	if (bad) atomicAdd(out, bad);
}
int main() {
	int *o, n; cudaMalloc(&o, 4);
	auto tell = [&](const char *what) { cudaError_t e = cudaDeviceSynchronize(); cudaMemcpy(&n, o, 4, cudaMemcpyDeviceToHost); printf("%s: %d wrong, %s\n", what, n, cudaGetErrorString(e)); fflush(stdout); cudaMemset(o, 0, 4); };
	cudaMemset(o, 0, 4);
	alone<<<1, 128>>>(20000, o); tell("128 arrive and sync at 256");
	twice<<<1, 96>>>(20000, o); tell("64 arrive twice, 32 sync at 160");
	turns<<<1, 288>>>(20000, o); tell("256+32 in turns");
}
