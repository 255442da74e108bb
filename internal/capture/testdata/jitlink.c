// A linker as nvJitLink is one, and, with USER, a library that has need of it: its functions are
// found by the dynamic linker under the names that its header gives them.
#include <stdlib.h>
#include <string.h>

#ifdef USER
int __nvJitLinkCreate_13_0(void **, unsigned, const char **), __nvJitLinkAddData_13_0(void *, int, const void *, size_t, const char *), __nvJitLinkComplete_13_0(void *), __nvJitLinkGetLinkedCubin_13_0(void *, void *);
int nvJitLinkCreateUsed(void **l, unsigned n, const char **o) { return __nvJitLinkCreate_13_0(l, n, o); }
int nvJitLinkAddDataUsed(void *l, int type, const void *data, size_t n, const char *name) { return __nvJitLinkAddData_13_0(l, type, data, n, name); }
int nvJitLinkCompleteUsed(void *l) { return __nvJitLinkComplete_13_0(l); }
int nvJitLinkGetLinkedCubinUsed(void *l, void *cubin) { return __nvJitLinkGetLinkedCubin_13_0(l, cubin); }
#else
#define LINKER(before, after) \
	int before##nvJitLinkCreate##after(void **l, unsigned n, const char **o) { return *l = calloc(1, 100), 0; } \
	int before##nvJitLinkAddData##after(char *l, int type, const void *data, size_t n, const char *name) { return l[70]++, 0; } \
	int before##nvJitLinkComplete##after(char *l) { return memcpy(l, "\177ELF", 4), l[0x28] = 80, 0; } \
	int before##nvJitLinkGetLinkedCubin##after(char *l, void *cubin) { return memcpy(cubin, l, 80), 0; }
LINKER(, )
LINKER(__, _13_0)
#endif
