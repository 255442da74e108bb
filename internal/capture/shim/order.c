
// ---- the order of a stream
//
// A programmatic dependent launch may begin before the launch that is directly before it in its
// stream has ended. What may lie between the two without a change (seen on an H200) is a record
// of an event; a copy, a memset, a wait and whatever the host waits for part them.

static pthread_mutex_t orderLock = PTHREAD_MUTEX_INITIALIZER; // held for no call of the driver

// A Stream's last launch, if it was recorded, and the clock then.
static struct { Handle stream; Before last; unsigned long at; } streams[1024];
static size_t nstreams;
static unsigned long ticks; // of all operations; a stream's own ones are of its last tick

// streamOf returns a stream's place in the table; -1: it is full.
static int streamOf(Handle stream) {
	for (size_t i = 0; i < nstreams; i++)
		if (streams[i].stream == stream) return i;
	if (nstreams == COUNT(streams)) return -1;
	streams[nstreams].stream = stream, streams[nstreams].last.launch = -1;
	return nstreams++;
}

// forget parts what is launched next, in all streams, from what was launched before.
static void forget(void) {
	for (size_t i = 0; i < nstreams; i++) streams[i].last.launch = -1;
}

// touched counts an operation in a stream. The legacy stream waits for others, and they for it.
static void touched(Handle stream, int perThread) {
	Handle s = stream ? stream : perThread ? threadStream : legacyStream;
	pthread_mutex_lock(&orderLock);
	int i = streamOf(s);
	ticks++;
	if (s == legacyStream) forget();
	else if (i >= 0) streams[i].last.launch = -1;
	pthread_mutex_unlock(&orderLock);
}

static void touchedAll(void) {
	pthread_mutex_lock(&orderLock);
	ticks++;
	forget();
	pthread_mutex_unlock(&orderLock);
}

// beforeIn returns what is directly before a launch in its stream.
static Before beforeIn(Handle stream) {
	pthread_mutex_lock(&orderLock);
	int i = streamOf(stream);
	Before b = i < 0 ? (Before){-1, 0} : streams[i].last;
	if (stream == legacyStream && i >= 0 && streams[i].at != ticks) b.launch = -1; // something else was in between
	pthread_mutex_unlock(&orderLock);
	return b;
}

// follows remembers a launch.
static void follows(Handle stream, Before b) {
	pthread_mutex_lock(&orderLock);
	int i = streamOf(stream);
	if (stream == legacyStream) forget();
	ticks++;
	if (i >= 0) streams[i].last = b, streams[i].at = ticks;
	pthread_mutex_unlock(&orderLock);
}

#define ORDERED_AS(name, perThread, params, types, args) \
	PUBLIC Result name params { \
		touched(s, perThread); \
		return REAL(#name, types) args; \
	}
#define ORDERED(name, params, types, args) \
	ORDERED_AS(name, 0, params, types, args) \
	ORDERED_AS(name##_ptsz, 1, params, types, args)

typedef size_t Size;
ORDERED(cuMemcpyAsync, (Address to, Address from, Size n, Handle s), (Address, Address, Size, Handle), (to, from, n, s))
ORDERED(cuMemcpyHtoDAsync_v2, (Address to, const void *from, Size n, Handle s), (Address, const void *, Size, Handle), (to, from, n, s))
ORDERED(cuMemcpyDtoHAsync_v2, (void *to, Address from, Size n, Handle s), (void *, Address, Size, Handle), (to, from, n, s))
ORDERED(cuMemcpyDtoDAsync_v2, (Address to, Address from, Size n, Handle s), (Address, Address, Size, Handle), (to, from, n, s))
ORDERED(cuMemcpyPeerAsync, (Address to, Handle c, Address from, Handle d, Size n, Handle s), (Address, Handle, Address, Handle, Size, Handle), (to, c, from, d, n, s))
ORDERED(cuMemcpy2DAsync_v2, (const void *p, Handle s), (const void *, Handle), (p, s))
ORDERED(cuMemcpy3DAsync_v2, (const void *p, Handle s), (const void *, Handle), (p, s))
ORDERED(cuMemsetD8Async, (Address to, unsigned char v, Size n, Handle s), (Address, unsigned char, Size, Handle), (to, v, n, s))
ORDERED(cuMemsetD16Async, (Address to, unsigned short v, Size n, Handle s), (Address, unsigned short, Size, Handle), (to, v, n, s))
ORDERED(cuMemsetD32Async, (Address to, unsigned v, Size n, Handle s), (Address, unsigned, Size, Handle), (to, v, n, s))
ORDERED(cuMemsetD2D8Async, (Address to, Size pitch, unsigned char v, Size w, Size h, Handle s), (Address, Size, unsigned char, Size, Size, Handle), (to, pitch, v, w, h, s))
ORDERED(cuMemsetD2D16Async, (Address to, Size pitch, unsigned short v, Size w, Size h, Handle s), (Address, Size, unsigned short, Size, Size, Handle), (to, pitch, v, w, h, s))
ORDERED(cuMemsetD2D32Async, (Address to, Size pitch, unsigned v, Size w, Size h, Handle s), (Address, Size, unsigned, Size, Size, Handle), (to, pitch, v, w, h, s))
ORDERED(cuStreamWaitEvent, (Handle s, Handle e, unsigned flags), (Handle, Handle, unsigned), (s, e, flags))
ORDERED(cuLaunchHostFunc, (Handle s, void *f, void *data), (Handle, void *, void *), (s, f, data))
ORDERED(cuStreamAddCallback, (Handle s, void *f, void *data, unsigned flags), (Handle, void *, void *, unsigned), (s, f, data, flags))
ORDERED(cuMemAllocAsync, (Address *p, Size n, Handle s), (Address *, Size, Handle), (p, n, s))
ORDERED(cuMemAllocFromPoolAsync, (Address *p, Size n, Handle pool, Handle s), (Address *, Size, Handle, Handle), (p, n, pool, s))
ORDERED(cuMemFreeAsync, (Address p, Handle s), (Address, Handle), (p, s))
ORDERED(cuStreamWaitValue32_v2, (Handle s, Address a, uint32_t v, unsigned flags), (Handle, Address, uint32_t, unsigned), (s, a, v, flags))
ORDERED(cuStreamWaitValue64_v2, (Handle s, Address a, uint64_t v, unsigned flags), (Handle, Address, uint64_t, unsigned), (s, a, v, flags))
ORDERED(cuStreamWriteValue32_v2, (Handle s, Address a, uint32_t v, unsigned flags), (Handle, Address, uint32_t, unsigned), (s, a, v, flags))
ORDERED(cuStreamWriteValue64_v2, (Handle s, Address a, uint64_t v, unsigned flags), (Handle, Address, uint64_t, unsigned), (s, a, v, flags))
ORDERED(cuStreamBatchMemOp_v2, (Handle s, unsigned n, void *list, unsigned flags), (Handle, unsigned, void *, unsigned), (s, n, list, flags))
ORDERED(cuStreamSynchronize, (Handle s), (Handle), (s))
ORDERED(cuStreamQuery, (Handle s), (Handle), (s))

#define WAITS_AS(name, params, types, args) \
	PUBLIC Result name params { \
		touchedAll(); \
		return REAL(#name, types) args; \
	}
#define WAITS(name, params, types, args) \
	WAITS_AS(name, params, types, args) \
	WAITS_AS(name##_ptds, params, types, args)

WAITS(cuMemcpy, (Address to, Address from, Size n), (Address, Address, Size), (to, from, n))
WAITS(cuMemcpyHtoD_v2, (Address to, const void *from, Size n), (Address, const void *, Size), (to, from, n))
WAITS(cuMemcpyDtoH_v2, (void *to, Address from, Size n), (void *, Address, Size), (to, from, n))
WAITS(cuMemcpyDtoD_v2, (Address to, Address from, Size n), (Address, Address, Size), (to, from, n))
WAITS(cuMemcpy2D_v2, (const void *p), (const void *), (p))
WAITS(cuMemcpy2DUnaligned_v2, (const void *p), (const void *), (p))
WAITS(cuMemcpy3D_v2, (const void *p), (const void *), (p))
WAITS(cuMemsetD8_v2, (Address to, unsigned char v, Size n), (Address, unsigned char, Size), (to, v, n))
WAITS(cuMemsetD16_v2, (Address to, unsigned short v, Size n), (Address, unsigned short, Size), (to, v, n))
WAITS(cuMemsetD32_v2, (Address to, unsigned v, Size n), (Address, unsigned, Size), (to, v, n))
WAITS_AS(cuCtxSynchronize, (void), (void), ())
WAITS_AS(cuEventSynchronize, (Handle e), (Handle), (e))
WAITS_AS(cuEventQuery, (Handle e), (Handle), (e))
WAITS_AS(cuMemFree_v2, (Address p), (Address), (p))
WAITS_AS(cuStreamDestroy_v2, (Handle s), (Handle), (s))

// A context takes its modules along when it ends, and its handles may come again. CUDA's runtime
// asks for the first versions of these functions.

#define ENDS(name, params, types, args, context, of) \
	PUBLIC Result name params { \
		touchedAll(); \
		contextsEnd(context, of); \
		return REAL(#name, types) args; \
	}

ENDS(cuCtxDestroy, (Handle c), (Handle), (c), c, -1)
ENDS(cuCtxDestroy_v2, (Handle c), (Handle), (c), c, -1)
ENDS(cuCtxDetach, (Handle c), (Handle), (c), c, -1)
ENDS(cuDevicePrimaryCtxReset, (int of), (int), (of), 0, of)
ENDS(cuDevicePrimaryCtxReset_v2, (int of), (int), (of), 0, of)

// Others may have retained a primary context that is released.
#define RELEASES(name) \
	PUBLIC Result name(int of) { \
		unsigned flags; \
		int active = 1; \
		touchedAll(); \
		Result r = REAL(#name, (int))(of); \
		if (!r && !CALL("cuDevicePrimaryCtxGetState", (int, unsigned *, int *), (of, &flags, &active)) && !active) contextsEnd(0, of); \
		return r; \
	}

RELEASES(cuDevicePrimaryCtxRelease)
RELEASES(cuDevicePrimaryCtxRelease_v2)

// standOrder is stand for what parts launches.
static void *standOrder(const char *name, int perThread) {
#define WAITING(f) {#f, (void *)f, (void *)f##_ptds}, {#f "_ptds", (void *)f##_ptds, (void *)f##_ptds}
	static const struct { const char *name; void *plain, *perThread; } table[] = {
		STREAM(cuMemcpyAsync), STREAM(cuMemcpyHtoDAsync_v2), STREAM(cuMemcpyDtoHAsync_v2), STREAM(cuMemcpyDtoDAsync_v2), STREAM(cuMemcpyPeerAsync),
		STREAM(cuMemcpy2DAsync_v2), STREAM(cuMemcpy3DAsync_v2), STREAM(cuMemsetD8Async), STREAM(cuMemsetD16Async), STREAM(cuMemsetD32Async),
		STREAM(cuMemsetD2D8Async), STREAM(cuMemsetD2D16Async), STREAM(cuMemsetD2D32Async), STREAM(cuStreamWaitEvent), STREAM(cuLaunchHostFunc),
		STREAM(cuStreamAddCallback), STREAM(cuMemAllocAsync), STREAM(cuMemAllocFromPoolAsync), STREAM(cuMemFreeAsync), STREAM(cuStreamWaitValue32_v2),
		STREAM(cuStreamWaitValue64_v2), STREAM(cuStreamWriteValue32_v2), STREAM(cuStreamWriteValue64_v2), STREAM(cuStreamBatchMemOp_v2),
		STREAM(cuStreamSynchronize), STREAM(cuStreamQuery),
		WAITING(cuMemcpy), WAITING(cuMemcpyHtoD_v2), WAITING(cuMemcpyDtoH_v2), WAITING(cuMemcpyDtoD_v2), WAITING(cuMemcpy2D_v2), WAITING(cuMemcpy2DUnaligned_v2),
		WAITING(cuMemcpy3D_v2), WAITING(cuMemsetD8_v2), WAITING(cuMemsetD16_v2), WAITING(cuMemsetD32_v2),
		PLAIN(cuCtxSynchronize), PLAIN(cuEventSynchronize), PLAIN(cuEventQuery), PLAIN(cuMemFree_v2), PLAIN(cuStreamDestroy_v2),
		PLAIN(cuCtxDestroy), PLAIN(cuCtxDestroy_v2), PLAIN(cuCtxDetach), PLAIN(cuDevicePrimaryCtxReset), PLAIN(cuDevicePrimaryCtxReset_v2),
		PLAIN(cuDevicePrimaryCtxRelease), PLAIN(cuDevicePrimaryCtxRelease_v2),
	};
	for (size_t i = 0; i < COUNT(table); i++)
		if (!strcmp(name, table[i].name)) return perThread ? table[i].perThread : table[i].plain;
	return 0;
}
