
// ---- a dry capture
//
// The program is told of another card, and nothing is launched. For each image the driver is
// given a stub that muster makes of its PTX for the card that is there (dry.go): the same
// kernels and variables, with nothing in them.

// capability is that of the card that is there, as 90.
static int capability(void) {
	static int known;
	int at = 0, major = 0, minor = 0;
	if (known) return known;
	CALL("cuCtxGetDevice", (int *), (&at));
	CALL("cuDeviceGetAttribute", (int *, int, int), (&major, 75, at));
	CALL("cuDeviceGetAttribute", (int *, int, int), (&minor, 76, at));
	return known = 10 * major + minor;
}

// stubOf returns what the driver loads in place of an image: the image, where it has no PTX.
static const void *stubOf(const void *image) {
	const void *give = image, *p;
	size_t size = 0;
	if (!dry() || !image) return image;
	pthread_mutex_lock(&lock);
	if (start() && (p = imageOf(image, &size))) {
		static int n;
		char name[32], path[256];
		Text q = {0};
		Dl_info info;
		snprintf(name, sizeof name, "dry%d", n++);
		saveImage(name, p, size, dladdr(p, &info) ? info.dli_fname : 0);
		add(&q, "stub %d %s/%s\n", capability(), folder, name);
		char *answer = off ? 0 : ask(q.s);
		free(q.s);
		if (answer && sscanf(answer, "stub %255s", path) == 1) {
			char *text = contentOf(path, &size);
			if (text) give = text; // kept: the driver may read it later
		}
		free(answer);
	}
	pthread_mutex_unlock(&lock);
	return give;
}

// stubbed passes the result of a load on. A stub that the driver refuses is our failure.
static Result stubbed(int isStub, Result r) {
	if (r && isStub) giveUp("the driver refuses what stands for code in a dry capture: CUDA's error %d", r);
	return r;
}

// stubOfFile returns the stub of a file in a dry capture: null if it has none.
static const void *stubOfFile(const char *path) {
	size_t size;
	char *image = dry() ? contentOf(path, &size) : 0;
	const void *give = image ? stubOf(image) : 0;
	if (give != image) return free(image), give;
	return free(image), (const void *)0;
}

PUBLIC Result cuDeviceGetAttribute(int *value, int which, int at) {
	Result r = REAL("cuDeviceGetAttribute", (int *, int, int))(value, which, at);
	if (!r && dry())
		for (int i = 0; i < opt.nattributes; i++)
			if (opt.attribute[i][0] == which) *value = opt.attribute[i][1];
	return r;
}
PUBLIC Result cuDeviceComputeCapability(int *major, int *minor, int at) {
	Result r = cuDeviceGetAttribute(major, 75, at);
	return r ? r : cuDeviceGetAttribute(minor, 76, at);
}
PUBLIC Result cuDeviceGetName(char *name, int n, int at) {
	Result r = REAL("cuDeviceGetName", (char *, int, int))(name, n, at);
	if (!r && dry()) snprintf(name, n, "%s", opt.name);
	return r;
}

// limit is an attribute of the card that the program is told of; -1 if nothing is said of it.
static int limit(int which) {
	for (int i = 0; i < opt.nattributes; i++)
		if (opt.attribute[i][0] == which) return opt.attribute[i][1];
	return -1;
}

// staticShared is what a kernel declares itself; its stub declares the same.
static int staticShared(Handle f) {
	int n = 0;
	if (CALL("cuFuncGetAttribute", (int *, int, Handle), (&n, FUNC_SHARED, f))) CALL("cuKernelGetAttribute", (int *, int, Handle, int), (&n, FUNC_SHARED, f, 0));
	return n;
}

// tooMuch reports whether a kernel may not have as much dynamic shared memory on that card.
static int tooMuch(int which, int value, Handle f) { return dry() && which == FUNC_MAX_SHARED && limit(97) >= 0 && value + staticShared(f) > limit(97); }

PUBLIC Result cuFuncSetAttribute(Handle f, int which, int value) {
	return tooMuch(which, value, f) ? INVALID_VALUE : REAL("cuFuncSetAttribute", (Handle, int, int))(f, which, value);
}
PUBLIC Result cuKernelSetAttribute(int which, int value, Handle k, int at) {
	return tooMuch(which, value, k) ? INVALID_VALUE : REAL("cuKernelSetAttribute", (int, int, Handle, int))(which, value, k, at);
}

// version answers for which cards the code of a kernel is: its stub is for another.
static Result version(Result r, int *value, int which, Handle f) {
	if (r || !dry() || (which != FUNC_PTX_VERSION && which != FUNC_BINARY_VERSION)) return r;
	pthread_mutex_lock(&lock);
	Kernel *k = start() ? findKernel(f) : 0;
	if (k && k->ptx) *value = which == FUNC_PTX_VERSION ? k->target : 10 * limit(75) + limit(76);
	pthread_mutex_unlock(&lock);
	return 0;
}
PUBLIC Result cuFuncGetAttribute(int *value, int which, Handle f) {
	return version(REAL("cuFuncGetAttribute", (int *, int, Handle))(value, which, f), value, which, f);
}
PUBLIC Result cuKernelGetAttribute(int *value, int which, Handle k, int at) {
	return version(REAL("cuKernelGetAttribute", (int *, int, Handle, int))(value, which, k, at), value, which, k);
}

// fewer bounds how many CTAs a multiprocessor can have by that card's shared memory and
// threads. What registers allow is not known: the stub needs few.
static Result fewer(Result r, int *n, Handle f, int threads, size_t dynamic) {
	if (r || !dry() || limit(81) < 0 || threads <= 0) return r;
	size_t shared = dynamic + staticShared(f) + 1024; // which the system needs of each
	int most[] = {limit(106), limit(39) / threads, limit(81) / shared};
	for (size_t i = 0; i < COUNT(most); i++)
		if (most[i] < *n) *n = most[i];
	return 0;
}
PUBLIC Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, Handle f, int threads, size_t dynamic) {
	return fewer(REAL("cuOccupancyMaxActiveBlocksPerMultiprocessor", (int *, Handle, int, size_t))(n, f, threads, dynamic), n, f, threads, dynamic);
}
PUBLIC Result cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *n, Handle f, int threads, size_t dynamic, unsigned flags) {
	return fewer(REAL("cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", (int *, Handle, int, size_t, unsigned))(n, f, threads, dynamic, flags), n, f, threads, dynamic);
}

// A Foreign is a tensor map that the driver does not make for the card that is there: newer
// cards have more types and more swizzles.
typedef struct {
	unsigned char bytes[128];
	char *text;    // what the program asked for
	char *numbers; // the same for muster, which writes such maps in an encoding of its own
	char *wide;    // of im2col's wide modes: the mode, two corners, channels and pixels; else 0
} Foreign;

static Foreign *foreign;
static size_t nforeign, cforeign;

static void addList(Text *t, const char *name, const void *list, int wide, unsigned n) {
	add(t, ", %s", name);
	for (unsigned i = 0; i < n; i++) add(t, "%s%llu", i ? "x" : " ", (unsigned long long)(wide ? ((const uint64_t *)list)[i] : ((const uint32_t *)list)[i]));
}

static void addNumbers(Text *t, const void *list, int wide, unsigned n) {
	for (unsigned i = 0; i < n; i++) add(t, ",%llu", (unsigned long long)(wide ? ((const uint64_t *)list)[i] : ((const uint32_t *)list)[i]));
}

// keepForeign keeps what a program asked for, under a name that is the map's bytes. CUTLASS
// clears bit 21 of the second word of a small map, for the sake of old drivers: a name has none
// there. Its last word is the address, by which the buffer is found.
static void keepForeign(void *map, void *at, char *text, char *numbers, char *wide) {
	memset(map, 0, 128), snprintf(map, 120, "tensor map_%zu of muster capture --dry", nforeign);
	memcpy((char *)map + 120, &at, 8);
	if (nforeign == cforeign) foreign = realloc(foreign, (cforeign = 2 * cforeign + 16) * sizeof *foreign);
	memcpy(foreign[nforeign].bytes, map, 128);
	foreign[nforeign].numbers = numbers;
	foreign[nforeign].wide = wide;
	foreign[nforeign++].text = text;
}

PUBLIC Result cuTensorMapEncodeTiled(void *map, int type, unsigned rank, void *at, const uint64_t *shape, const uint64_t *strides, const unsigned *box, const unsigned *steps, int interleave, int swizzle, int l2, int fill) {
	Result (*real)(void *, int, unsigned, void *, const uint64_t *, const uint64_t *, const unsigned *, const unsigned *, int, int, int, int) = (void *)driver("cuTensorMapEncodeTiled");
	Result r = real(map, type, rank, at, shape, strides, box, steps, interleave, swizzle, l2, fill);
	if (!r || !dry() || !rank || rank > 5) return r;
	pthread_mutex_lock(&lock);
	Text t = {0}, numbers = {0};
	add(&numbers, "%d,%u,%llu,%d,%d,%d,%d", type, rank, (unsigned long long)(uintptr_t)at, interleave, swizzle, l2, fill);
	addNumbers(&numbers, shape, 1, rank), addNumbers(&numbers, strides, 1, rank - 1), addNumbers(&numbers, box, 0, rank), addNumbers(&numbers, steps, 0, rank);
	add(&t, "type %d", type);
	addList(&t, "shape", shape, 1, rank), addList(&t, "strides", strides, 1, rank - 1), addList(&t, "box", box, 0, rank), addList(&t, "steps", steps, 0, rank);
	add(&t, ", interleave %d, swizzle %d, fill %d", interleave, swizzle, fill);
	keepForeign(map, at, t.s, numbers.s, 0);
	pthread_mutex_unlock(&lock);
	return 0;
}

// The wide modes of im2col are of sm_100 and later: a driver that knows the function refuses
// it on other cards.
PUBLIC Result cuTensorMapEncodeIm2colWide(void *map, int type, unsigned rank, void *at, const uint64_t *shape, const uint64_t *strides, int lower, int upper, unsigned channels, unsigned pixels, const unsigned *steps, int interleave, int mode, int swizzle, int l2, int fill) {
	Result r = CALL("cuTensorMapEncodeIm2colWide", (void *, int, unsigned, void *, const uint64_t *, const uint64_t *, int, int, unsigned, unsigned, const unsigned *, int, int, int, int, int),
		(map, type, rank, at, shape, strides, lower, upper, channels, pixels, steps, interleave, mode, swizzle, l2, fill));
	if (r < 0) r = 500; // CUDA_ERROR_NOT_FOUND: an old driver
	if (!r || !dry() || !rank || rank > 5) return r;
	pthread_mutex_lock(&lock);
	Text t = {0}, numbers = {0}, wide = {0};
	add(&numbers, "%d,%u,%llu,%d,%d,%d,%d", type, rank, (unsigned long long)(uintptr_t)at, interleave, swizzle, l2, fill);
	addNumbers(&numbers, shape, 1, rank), addNumbers(&numbers, strides, 1, rank - 1), addNumbers(&numbers, steps, 0, rank);
	add(&wide, "%d,%d,%d,%u,%u", mode, lower, upper, channels, pixels);
	add(&t, "type %d", type);
	addList(&t, "shape", shape, 1, rank), addList(&t, "strides", strides, 1, rank - 1), addList(&t, "steps", steps, 0, rank);
	add(&t, ", im2col wide mode %d, corners %d and %d, channels %u, pixels %u, interleave %d, swizzle %d, fill %d", mode, lower, upper, channels, pixels, interleave, swizzle, fill);
	keepForeign(map, at, t.s, numbers.s, wide.s);
	pthread_mutex_unlock(&lock);
	return 0;
}

// addForeign tells of the tensor maps among a launch's parameters that are foreign.
static void addForeign(Text *t, const unsigned char *block, size_t n) {
	int some = 0;
	for (size_t at = 0; at + 128 <= n; at += 8)
		for (size_t i = nforeign; i-- > 0;) {
			if (memcmp(block + at, foreign[i].bytes, 128)) continue;
			add(t, "%s{\"at\":%zu,\"text\":", some++ ? "," : ",\"maps\":[", at);
			addString(t, foreign[i].text);
			add(t, ",\"numbers\":[%s],\"wide\":[%s]}", foreign[i].numbers, foreign[i].wide ? foreign[i].wide : "");
			break;
		}
	if (some) add(t, "]");
}

// standDry is stand for what a dry capture answers.
static void *standDry(const char *name) {
	static const struct { const char *name; void *plain, *perThread; } table[] = {
		PLAIN(cuDeviceGetAttribute), PLAIN(cuDeviceComputeCapability), PLAIN(cuDeviceGetName), PLAIN(cuFuncSetAttribute), PLAIN(cuKernelSetAttribute),
		PLAIN(cuFuncGetAttribute), PLAIN(cuKernelGetAttribute),
		PLAIN(cuOccupancyMaxActiveBlocksPerMultiprocessor), PLAIN(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags), PLAIN(cuTensorMapEncodeTiled),
		PLAIN(cuTensorMapEncodeIm2colWide),
	};
	for (size_t i = 0; i < COUNT(table); i++)
		if (!strcmp(name, table[i].name)) return table[i].plain;
	return 0;
}
