// A second unit, whose kernel calls a function of a third.
extern __device__ float twice(float);
extern "C" __global__ void call(float *x) { x[threadIdx.x] = twice(x[threadIdx.x]); }
