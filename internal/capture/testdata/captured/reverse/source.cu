#include <cstdio>

__global__ void reverse(int *data) {
	__shared__ int tile[256];
	int i = threadIdx.x;
	tile[i] = data[i];
	data[i] = tile[255 - i]; // what if the thread that stores it is not there yet?
}

int main() {
	int *data, host[256];
	for (int i = 0; i < 256; i++) host[i] = i;
	cudaMalloc(&data, sizeof host);
	cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice);
	reverse<<<1, 256>>>(data);
	cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
	printf("%d %d\n", host[0], host[255]);
}
