__device__ int table[4] = {100, 200, 300, 400};
__device__ __noinline__ int scale(int x) { return 2 * x; }
