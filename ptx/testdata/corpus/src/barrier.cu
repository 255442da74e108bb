// libcu++: cuda::barrier, cuda::pipeline, cuda::memcpy_async, latch, semaphore.
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/semaphore>

namespace cg = cooperative_groups;

extern "C" __global__ void staged(const float *in, float *out, int tiles) {
  extern __shared__ float buf[];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  const int n = block.size();
  int ahead = 0;
  float sum = 0;
  for (int k = 0; k < tiles; k++) {
    for (; ahead < tiles && ahead < k + 2; ahead++) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, buf + (ahead & 1) * n, in + ahead * n, sizeof(float) * n, pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    sum += buf[(k & 1) * n + n - 1 - block.thread_rank()];
    pipe.consumer_release();
  }
  out[block.thread_rank()] = sum;
}

extern "C" __global__ void roles(const float *in, float *out, int tiles) {
  extern __shared__ float buf[];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 3> state;
  auto block = cg::this_thread_block();
  const auto role = threadIdx.x < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
  auto pipe = cuda::make_pipeline(block, &state, role);
  if (role == cuda::pipeline_role::producer) {
    for (int k = 0; k < tiles; k++) {
      pipe.producer_acquire();
      for (int i = threadIdx.x; i < 128; i += 32)
        cuda::memcpy_async(&buf[(k % 3) * 128 + i], &in[k * 128 + i], cuda::aligned_size_t<4>(4), pipe);
      pipe.producer_commit();
    }
  } else {
    float sum = 0;
    for (int k = 0; k < tiles; k++) {
      pipe.consumer_wait();
      sum += buf[(k % 3) * 128 + threadIdx.x - 32];
      pipe.consumer_release();
    }
    out[threadIdx.x - 32] = sum;
  }
}

extern "C" __global__ void thread_pipeline(const int4 *in, int4 *out) {
  __shared__ int4 buf[256];
  auto pipe = cuda::make_pipeline();
  pipe.producer_acquire();
  cuda::memcpy_async(&buf[threadIdx.x], &in[threadIdx.x], cuda::aligned_size_t<16>(16), pipe);
  pipe.producer_commit();
  cuda::pipeline_consumer_wait_prior<0>(pipe);
  out[threadIdx.x] = buf[threadIdx.x];
  pipe.consumer_release();
}

struct Swap {
  int *front, *back;
  __device__ void operator()() noexcept { int *t = front; front = back; back = t; }
};

extern "C" __global__ void drop_out(int *data, int rounds) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  for (int r = 0; r < rounds; r++) {
    if (threadIdx.x == r) { bar.arrive_and_drop(); return; }
    data[threadIdx.x] += r;
    bar.arrive_and_wait();
  }
}

extern "C" __global__ void device_wide(cuda::barrier<cuda::thread_scope_device> *bar, cuda::latch<cuda::thread_scope_device> *latch,
                                       cuda::counting_semaphore<cuda::thread_scope_device> *sem, int *data) {
  if (threadIdx.x == 0) {
    sem->acquire();
    data[blockIdx.x] = blockIdx.x;
    sem->release();
    latch->count_down();
    bar->arrive_and_wait();
    data[gridDim.x + blockIdx.x] = data[(blockIdx.x + 1) % gridDim.x];
    latch->wait();
  }
}
