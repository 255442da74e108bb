// Two launches, the second dependent: right (waits first), then wrong (reads before it waits).
#include <cstdio>
__global__ void produce(unsigned *p) {
	p[blockIdx.x * 128 + threadIdx.x] += threadIdx.x;
	__threadfence();
	cudaTriggerProgrammaticLaunchCompletion();
}
__global__ void consume(const unsigned *p, unsigned *q, int early) {
	unsigned v = early ? p[blockIdx.x * 128 + threadIdx.x] : 0;
	cudaGridDependencySynchronize();
	if (!early) v = p[blockIdx.x * 128 + threadIdx.x];
	q[blockIdx.x * 128 + threadIdx.x] = 3 * v;
}
int main() {
	unsigned *p, *q, h[256]; cudaStream_t s;
	cudaMalloc(&p, 1024), cudaMalloc(&q, 1024), cudaStreamCreate(&s);
	cudaMemset(p, 0, 1024), cudaDeviceSynchronize();
	for (int early = 0; early < 2; early++) {
		produce<<<2, 128, 0, s>>>(p);
		cudaLaunchAttribute a{}; a.id = cudaLaunchAttributeProgrammaticStreamSerialization, a.val.programmaticStreamSerializationAllowed = 1;
		cudaLaunchConfig_t c{}; c.gridDim = 2, c.blockDim = 128, c.stream = s, c.attrs = &a, c.numAttrs = 1;
		cudaLaunchKernelEx(&c, consume, (const unsigned *)p, q, early);
		cudaStreamSynchronize(s);
	}
	cudaMemcpy(h, q, 1024, cudaMemcpyDeviceToHost);
	printf("%u %s\n", h[255], cudaGetErrorString(cudaGetLastError()));
}
