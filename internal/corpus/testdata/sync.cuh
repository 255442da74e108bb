// Accesses of the PTX memory model by name, as libraries wrap them.
#pragma once
typedef unsigned u32;
typedef unsigned long long u64;

#define LOAD(name, sem, type, letter, c)                                                  \
	__device__ __forceinline__ c name(const c* p) {                                   \
		c v;                                                                      \
		asm volatile("ld." sem ".global." type " %0, [%1];" : letter(v) : "l"(p) : "memory"); \
		return v;                                                                 \
	}
#define STORE(name, sem, type, letter, c)                                                 \
	__device__ __forceinline__ void name(c* p, c v) {                                 \
		asm volatile("st." sem ".global." type " [%0], %1;" ::"l"(p), letter(v) : "memory"); \
	}
#define RMW(name, op)                                                                     \
	__device__ __forceinline__ u32 name(u32* p, u32 v) {                              \
		u32 old;                                                                  \
		asm volatile("atom." op " %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(v) : "memory"); \
		return old;                                                               \
	}
#define RED(name, op)                                                                     \
	__device__ __forceinline__ void name(u32* p, u32 v) {                             \
		asm volatile("red." op " [%0], %1;" ::"l"(p), "r"(v) : "memory");         \
	}
#define CAS(name, sem)                                                                    \
	__device__ __forceinline__ u32 name(u32* p, u32 cmp, u32 v) {                     \
		u32 old;                                                                  \
		asm volatile("atom." sem ".global.cas.b32 %0, [%1], %2, %3;" : "=r"(old) : "l"(p), "r"(cmp), "r"(v) : "memory"); \
		return old;                                                               \
	}

LOAD(ld_relaxed, "relaxed.gpu", "u32", "=r", u32)
LOAD(ld_acquire, "acquire.gpu", "u32", "=r", u32)
LOAD(ld_acquire_sys, "acquire.sys", "u32", "=r", u32)
LOAD(ld_relaxed64, "relaxed.gpu", "u64", "=l", u64)
LOAD(ld_acquire64, "acquire.gpu", "u64", "=l", u64)
STORE(st_relaxed, "relaxed.gpu", "u32", "r", u32)
STORE(st_release, "release.gpu", "u32", "r", u32)
STORE(st_release_sys, "release.sys", "u32", "r", u32)
STORE(st_relaxed64, "relaxed.gpu", "u64", "l", u64)
STORE(st_release64, "release.gpu", "u64", "l", u64)
RMW(add_relaxed, "relaxed.gpu.global.add.u32")
RMW(add_acquire, "acquire.gpu.global.add.u32")
RMW(add_release, "release.gpu.global.add.u32")
RMW(add_acq_rel, "acq_rel.gpu.global.add.u32")
RMW(inc_acq_rel, "acq_rel.gpu.global.inc.u32")
RMW(exch_acquire, "acquire.gpu.global.exch.b32")
RMW(exch_release, "release.gpu.global.exch.b32")
RMW(exch_acq_rel, "acq_rel.gpu.global.exch.b32")
RMW(or_acq_rel, "acq_rel.gpu.global.or.b32")
RED(red_release, "release.gpu.global.add.u32")
RED(red_relaxed, "relaxed.gpu.global.add.u32")
CAS(cas_acquire, "acquire.gpu")
CAS(cas_release, "release.gpu")
CAS(cas_acq_rel, "acq_rel.gpu")
CAS(cas_relaxed, "relaxed.gpu")

__device__ __forceinline__ void fence_acq_rel() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }
__device__ __forceinline__ void fence_sc() { asm volatile("fence.sc.gpu;" ::: "memory"); }
