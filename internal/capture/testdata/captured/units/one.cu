extern __device__ int scale(int);
extern __device__ int table[4];
__global__ void twice(int *p) { p[threadIdx.x] = scale(p[threadIdx.x]) + table[threadIdx.x & 3]; }
int main() { int *p, h[64] = {1, 2, 3}; cudaMalloc(&p, 256); cudaMemcpy(p, h, 256, cudaMemcpyHostToDevice); twice<<<1, 64>>>(p); cudaMemcpy(h, p, 256, cudaMemcpyDeviceToHost); return h[2] != 306; }
