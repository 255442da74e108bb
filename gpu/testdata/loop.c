// What the driver takes by itself: the same calls as Prepared.Launch, from C.
//   cc -O2 -shared -fPIC loop.c -o libloop.so
#include <stdint.h>

typedef uintptr_t w;

int loop(void *fn, const w *a, int nargs, int n)
{
	for (int i = 0; i < n; i++) {
		int r = nargs == 4
			? ((int (*)(w, w, w, w))fn)(a[0], a[1], a[2], a[3])
			: ((int (*)(w, w, w, w, w, w, w, w, w, w, w))fn)(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10]);
		if (r)
			return r;
	}
	return 0;
}
