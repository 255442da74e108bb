// A graph: a memset, a kernel, one that may begin before it has ended, and a copy.
#include <cstdio>
__global__ void produce(unsigned *p) {
	p[blockIdx.x * 128 + threadIdx.x] += threadIdx.x;
	__threadfence();
	cudaTriggerProgrammaticLaunchCompletion();
}
__global__ void consume(const unsigned *p, unsigned *q) {
	cudaGridDependencySynchronize();
	q[blockIdx.x * 128 + threadIdx.x] = 3 * p[blockIdx.x * 128 + threadIdx.x];
}
int main() {
	unsigned *p, *q, *r, h[256]; cudaStream_t s; cudaGraph_t g; cudaGraphExec_t e;
	cudaMalloc(&p, 1024), cudaMalloc(&q, 1024), cudaMalloc(&r, 1024), cudaStreamCreate(&s);
	cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
	cudaMemsetAsync(p, 1, 1024, s);
	produce<<<2, 128, 0, s>>>(p);
	cudaLaunchAttribute a{}; a.id = cudaLaunchAttributeProgrammaticStreamSerialization, a.val.programmaticStreamSerializationAllowed = 1;
	cudaLaunchConfig_t c{}; c.gridDim = 2, c.blockDim = 128, c.stream = s, c.attrs = &a, c.numAttrs = 1;
	cudaLaunchKernelEx(&c, consume, (const unsigned *)p, q);
	cudaMemcpyAsync(r, q, 1024, cudaMemcpyDeviceToDevice, s);
	cudaStreamEndCapture(s, &g), cudaGraphInstantiate(&e, g, 0), cudaGraphLaunch(e, s);
	cudaMemcpyAsync(h, r, 1024, cudaMemcpyDeviceToHost, s), cudaStreamSynchronize(s);
	printf("%u %s\n", h[255], cudaGetErrorString(cudaGetLastError()));
}
