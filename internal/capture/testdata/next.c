// A library that is preloaded behind the shim, as an allocator is, and asks for the next
// function of a name: RTLD_NEXT means after itself, whoever stands before dlsym.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>

static void *(*next)(size_t);
static int busy;

void *malloc(size_t n) {
	static char early[1 << 16];
	static size_t used;
	if (!next && !busy) busy = 1, next = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc"), busy = 0;
	if (next == malloc) abort(); // it found itself
	if (next) return next(n);
	used = (used + n + 15) & ~(size_t)15;
	return early + used - ((n + 15) & ~(size_t)15);
}
