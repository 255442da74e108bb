// Textures and surfaces.
extern "C" __global__ void sample(cudaTextureObject_t one, cudaTextureObject_t two, cudaTextureObject_t three, float4 *out) {
  float x = threadIdx.x * 0.25f;
  float4 a = tex1D<float4>(one, x), b = tex2D<float4>(two, x, x + 1), c = tex3D<float4>(three, x, x, x);
  float4 d = tex2DLod<float4>(two, x, x, 1.0f), e = tex2Dgather<float4>(two, x, x, 1);
  float f = tex1Dfetch<float>(one, threadIdx.x);
  out[threadIdx.x] = make_float4(a.x + b.y, c.z + d.w, e.x, f);
}
extern "C" __global__ void paint(cudaSurfaceObject_t s, int w) {
  int v;
  surf2Dread(&v, s, threadIdx.x * 4, blockIdx.x);
  surf2Dwrite(v + 1, s, threadIdx.x * 4, blockIdx.x, cudaBoundaryModeClamp);
}
