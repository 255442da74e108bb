// The part of 'muster capture' that runs inside of the captured process. It is preloaded
// (LD_PRELOAD), stands before the functions of CUDA's driver that load code and launch
// kernels, and records each launch: code, parameters, and the memory that they lead to,
// before and after. It needs no header of CUDA.
//
// What it records lies in $MUSTER_CAPTURE/record/PID: `events`, one JSON object a line, and the
// bytes that they name. The folder $MUSTER_CAPTURE has `options`, and `socket`, where the
// muster that waits for the program answers what the PTX of a kernel says.
//
// Rules: no call of its own may change what the program sees. It never synchronizes: it
// polls events, up to a limit. At the first failure of a call of its own it turns itself off.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <pthread.h>
#include <regex.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))
#define COUNT(a) (sizeof(a) / sizeof *(a))

// ---- what of cuda.h is needed

typedef int Result;
typedef void *Handle; // of a context, stream, module, library, function, kernel, event
typedef unsigned long long Address;

enum { INVALID_VALUE = 1, DEINITIALIZED = 4, NOT_READY = 600, CAPTURE_FIRST = 900, CAPTURE_LAST = 909 };

typedef struct {
	int id;
	int pad;
	unsigned value[16];
} Attribute;

typedef struct {
	unsigned grid[3], block[3], shared;
	Handle stream;
	Attribute *attrs;
	unsigned nattrs;
} Config;

enum { ATTR_COOPERATIVE = 2, ATTR_DEPENDENT = 6 };
enum { FUNC_SHARED = 1, FUNC_LOCAL = 3, FUNC_REGISTERS = 4, FUNC_PTX_VERSION = 5, FUNC_BINARY_VERSION = 6, FUNC_MAX_SHARED = 8 };
enum { POINTER_MEMORY_TYPE = 2, POINTER_HOST = 4, POINTER_MANAGED = 8, POINTER_DEVICE = 9, POINTER_START = 11, POINTER_SIZE = 12 };
enum { MEMORY_HOST = 1, MEMORY_DEVICE = 2 };
enum { LIMIT_HEAP = 2 };

static const Handle legacyStream = (Handle)1, threadStream = (Handle)2;

// ---- symbols

// muster_dlsym is the C library's dlsym. The assembler below jumps to it.
__attribute__((visibility("hidden"))) void *(*muster_dlsym)(void *, const char *);

// findDlsym takes the version that the C library has: to ask for one that it has not would
// allocate memory for the error, and an allocator that is being set up may have asked us.
static void findDlsym(void) {
	if (muster_dlsym) return;
	int major = 2, minor = 34;
	sscanf(gnu_get_libc_version(), "%d.%d", &major, &minor);
#if defined(__aarch64__)
	const char *old = "GLIBC_2.17";
#else
	const char *old = "GLIBC_2.2.5";
#endif
	muster_dlsym = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", minor >= 34 ? "GLIBC_2.34" : old);
}

// driver returns a function of CUDA's driver; null if it has none.
static void *driver(const char *name) {
	static void *lib;
	findDlsym();
	if (!lib) lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
	return lib ? muster_dlsym(lib, name) : 0;
}

// CALL calls a function of the driver that it may not have: then the result is -1.
#define CALL(name, types, args) \
	({ \
		static Result(*f) types; \
		static int asked; \
		if (!asked) f = (Result(*) types)driver(name), asked = 1; \
		f ? f args : -1; \
	})

// ---- the record

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static int ready;        // options are read
static volatile int off; // nothing is recorded any more
static char top[96], folder[128];
static int device = -1;

static struct {
	int filtered;
	regex_t kernel;
	int nranges;
	unsigned long range[64][2];
	size_t maxBytes;
	double wait;
	unsigned perKernel;
	int dry; // answer as another card, and launch nothing
	char name[128], dir[256]; // dir: the folder that the user named
	int nattributes, attribute[32][2];
} opt;

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

// An Own is a descriptor that is ours. The program may close it, as it may close all that it
// has, and have the number for another file: what is behind it is asked before each use. None is
// kept from one call of the program to the next.
typedef struct {
	int fd;
	dev_t device;
	ino_t inode;
} Own;

// own takes a descriptor, and moves it away from those of the standard streams, for which the
// program would take it.
static Own own(int fd) {
	if (fd >= 0 && fd < 3) {
		int higher = fcntl(fd, F_DUPFD_CLOEXEC, 3);
		close(fd);
		fd = higher;
	}
	struct stat st;
	return fd < 0 || fstat(fd, &st) ? (Own){-1} : (Own){fd, st.st_dev, st.st_ino};
}

static int still(const Own *o) {
	struct stat st;
	return o->fd >= 0 && !fstat(o->fd, &st) && st.st_dev == o->device && st.st_ino == o->inode;
}

static void letGo(const Own *o) {
	if (still(o)) close(o->fd);
}

// writeAll writes, and keeps from the program the signals that a file too large, or a closed
// connection, would send it.
static int writeAll(const Own *to, const void *data, size_t n) {
	sigset_t ours, before, pending;
	sigemptyset(&ours);
	sigaddset(&ours, SIGXFSZ);
	sigaddset(&ours, SIGPIPE);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &ours, &before);
	int failed = 0;
	for (const char *p = data; n > 0 && !failed;) {
		ssize_t k = still(to) ? write(to->fd, p, n) : (errno = EBADF, -1);
		if (k < 0 && errno == EINTR) continue;
		if (k <= 0) failed = k < 0 ? errno : EIO;
		else p += k, n -= k;
	}
	int sent = failed == EFBIG ? SIGXFSZ : failed == EPIPE ? SIGPIPE : 0;
	if (sent && !sigismember(&pending, sent)) {
		struct timespec none = {0};
		sigset_t one;
		sigemptyset(&one);
		sigaddset(&one, sent);
		sigtimedwait(&one, 0, &none);
	}
	pthread_sigmask(SIG_SETMASK, &before, 0);
	errno = failed;
	return failed ? -1 : 0;
}

static Own errors = {-1}; // standard error, as the program was given it

// begun looks at standard error before the program may have put another file there.
__attribute__((constructor)) static void begun(void) {
	struct stat st;
	if (!fstat(2, &st)) errors = (Own){2, st.st_dev, st.st_ino};
}

// giveUp says why, once, and ends the capture of this process. What cannot be said on standard
// error is left for muster to say.
static void giveUp(const char *format, ...) {
	if (off) return;
	off = 1;
	char why[400], line[500], path[160];
	va_list args;
	va_start(args, format);
	vsnprintf(why, sizeof why, format, args);
	va_end(args);
	int n = snprintf(line, sizeof line, "muster capture: process %d is not captured any further: %s\n", (int)getpid(), why);
	if (!writeAll(&errors, line, n)) return;
	snprintf(path, sizeof path, "%s/why", folder);
	Own o = own(open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
	writeAll(&o, line, n);
	letGo(&o);
}

// cannot gives up since something cannot be written.
static void cannot(const char *name) {
	int why = errno;
	if (access(top, F_OK)) giveUp("muster, which captures it, has ended");
	else giveUp("%s cannot be written in %s: %s", name, opt.dir, strerror(why));
}

// A Text is a string that grows.
typedef struct {
	char *s;
	size_t n, cap;
} Text;

static void room(Text *t, size_t n) {
	if (t->n + n + 1 <= t->cap) return;
	t->cap = 2 * (t->n + n + 1) + 256;
	char *s = realloc(t->s, t->cap);
	if (!s) {
		giveUp("no memory");
		abort(); // as the program would: there is none for it either
	}
	t->s = s;
}

static void add(Text *t, const char *format, ...) {
	va_list args, again;
	va_start(args, format);
	va_copy(again, args);
	int n = vsnprintf(0, 0, format, args);
	va_end(args);
	room(t, n);
	vsnprintf(t->s + t->n, n + 1, format, again);
	va_end(again);
	t->n += n;
}

// addString adds a JSON string.
static void addString(Text *t, const char *s) {
	add(t, "\"");
	for (; s && *s; s++) add(t, (unsigned char)*s < ' ' || *s == '"' || *s == '\\' ? "\\u%04x" : "%c", (unsigned char)*s);
	add(t, "\"");
}

static Own openAt(const char *name, int flags) {
	char path[256];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	Own o = own(open(path, O_WRONLY | O_CLOEXEC | flags, 0600));
	if (o.fd < 0) cannot(name);
	return o;
}

static Own create(const char *name) { return openAt(name, O_CREAT | O_EXCL); }

// emit appends a line to the events, and frees it.
static void emit(Text *t) {
	add(t, "\n");
	Own o = off ? (Own){-1} : openAt("events", O_APPEND);
	if (o.fd >= 0 && writeAll(&o, t->s, t->n)) cannot("events");
	letGo(&o);
	free(t->s);
	*t = (Text){0};
}

static void save(const char *name, const void *data, size_t n) {
	Own o = create(name);
	if (o.fd < 0) return;
	if (writeAll(&o, data, n)) cannot(name);
	letGo(&o);
}

// forked keeps a child that shares its parent's record from writing to it.
// Another thread of the parent may have held the lock.
static void forked(void) {
	static const pthread_mutex_t open = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
	off = 1;
	lock = open;
}

static void readOptions(void) {
	char path[128], line[4096];
	snprintf(path, sizeof path, "%s/options", top);
	FILE *f = fopen(path, "re");
	if (!f) return access(top, F_OK) ? giveUp("muster, which captures it, has ended") : giveUp("the options of the capture cannot be read: %s", strerror(errno));
	while (fgets(line, sizeof line, f)) {
		line[strcspn(line, "\n")] = 0;
		char *value = strchr(line, '=');
		if (!value) continue;
		*value++ = 0;
		if (!strcmp(line, "dir")) snprintf(opt.dir, sizeof opt.dir, "%s", value);
		if (!strcmp(line, "kernel")) opt.filtered = !regcomp(&opt.kernel, value, REG_EXTENDED | REG_NOSUB);
		if (!strcmp(line, "max-bytes")) opt.maxBytes = strtoull(value, 0, 10);
		if (!strcmp(line, "wait-ms")) opt.wait = strtol(value, 0, 10) / 1e3; // in no locale's digits
		if (!strcmp(line, "per-kernel")) opt.perKernel = strtoul(value, 0, 10);
		if (!strcmp(line, "name")) opt.dry = 1, snprintf(opt.name, sizeof opt.name, "%s", value);
		if (!strcmp(line, "attribute") && opt.nattributes < (int)COUNT(opt.attribute)) {
			opt.attribute[opt.nattributes][0] = strtol(value, &value, 10);
			opt.attribute[opt.nattributes++][1] = strtol(value + 1, 0, 10);
		}
		if (!strcmp(line, "launch") && opt.nranges < (int)COUNT(opt.range)) {
			opt.range[opt.nranges][0] = strtoul(value, &value, 10);
			opt.range[opt.nranges++][1] = strtoul(value + 1, 0, 10);
		}
	}
	fclose(f);
}

// configure reads the options, once.
static void configure(void) {
	static volatile int done;
	if (done) return;
	pthread_mutex_lock(&lock);
	if (!done) {
		const char *dir = getenv("MUSTER_CAPTURE");
		if (dir && strlen(dir) < sizeof top) strcpy(top, dir), readOptions();
		else off = 1;
		done = 1;
	}
	pthread_mutex_unlock(&lock);
}

static int dry(void) { return configure(), opt.dry; }

// start makes the folder of this process, once. It reports whether launches are recorded.
static int start(void) {
	if (ready || off) return !off;
	ready = 1;
	configure();
	snprintf(folder, sizeof folder, "%s/record/%d", top, (int)getpid());
	if (!off && mkdir(folder, 0700)) cannot("the record");
	if (!off) {
		Own o = create("events");
		letGo(&o);
	}
	pthread_atfork(0, 0, forked);
	return !off;
}

// ---- code

// A Module is an image that the program gave to the driver.
typedef struct {
	Handle handle;
	int library, id, saved, owned;
	const char *how;
	const void *image;
	size_t size;
} Module;

static Module *modules;
static size_t nmodules, cmodules;
static int nextModule;

// A Kernel is a function that was launched, with what its PTX says.
typedef struct {
	Handle handle, function;
	Module *module; // null: not seen
	char *name;
	int ptx, target; // the module has PTX of it, for this compute capability
	size_t nparams;
	size_t (*params)[2]; // offset, size
	size_t nvariables;
	char **variables;
	unsigned recorded;
} Kernel;

static Kernel **kernels;
static size_t nkernels, ckernels;

static uint16_t u16(const void *p) { uint16_t v; return memcpy(&v, p, 2), v; }
static uint32_t u32(const void *p) { uint32_t v; return memcpy(&v, p, 4), v; }
static uint64_t u64(const void *p) { uint64_t v; return memcpy(&v, p, 8), v; }

// imageOf finds where an image lies and how long it is.
static const void *imageOf(const void *image, size_t *size) {
	const char *p = image;
	if (u32(p) == 0x466243b1) { // a wrapper: magic, version, pointer
		memcpy(&p, p + 8, sizeof p);
		if (!p) return 0;
	}
	if (u32(p) == 0xba55ed50) {
		*size = u16(p + 6) + u64(p + 8);
	} else if (u32(p) == 0x464c457f) {
		uint64_t sections = u64(p + 0x28) + (uint64_t)u16(p + 0x3a) * u16(p + 0x3c);
		uint64_t programs = u64(p + 0x20) + (uint64_t)u16(p + 0x36) * u16(p + 0x38);
		*size = sections > programs ? sections : programs;
	} else {
		*size = strlen(p);
	}
	return p;
}

// isStatic reports whether bytes are part of a loaded file, and so stay where they are.
static int isStatic(const void *p) {
	Dl_info info;
	return dladdr(p, &info) != 0;
}

static void addModule(Handle handle, int library, const char *how, const void *image, size_t size, int owned) {
	if (nmodules == cmodules) {
		// Kernels point to modules: the array may not move.
		if (cmodules) return giveUp("more than %zu modules are loaded", cmodules);
		cmodules = 1 << 16;
		modules = calloc(cmodules, sizeof *modules);
		if (!modules) return giveUp("no memory");
	}
	modules[nmodules++] = (Module){handle, library, nextModule++, 0, owned, how, image, size};
}

// loaded keeps an image until a kernel of it is launched.
static void loaded(Handle handle, int library, const char *how, const void *image) {
	size_t size = 0;
	pthread_mutex_lock(&lock);
	if (image && start() && (image = imageOf(image, &size))) {
		int owned = !isStatic(image);
		if (owned) {
			void *copy = malloc(size + 1);
			if (copy) image = memcpy(copy, image, size);
			else giveUp("no memory for an image of %zu bytes", size);
		}
		if (!off) addModule(handle, library, how, image, size, owned);
	}
	pthread_mutex_unlock(&lock);
}

// contentOf reads a file, and adds a zero byte; null if it cannot.
static char *contentOf(const char *path, size_t *size) {
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	char *data = fd >= 0 && !fstat(fd, &st) ? malloc(st.st_size + 1) : 0;
	ssize_t k = 1;
	*size = 0;
	while (data && *size < (size_t)st.st_size && (k = read(fd, data + *size, st.st_size - *size)) > 0) *size += k;
	if (data) data[*size] = 0;
	if (fd >= 0) close(fd);
	return data;
}

static void loadedFile(Handle handle, int library, const char *how, const char *path) {
	pthread_mutex_lock(&lock);
	size_t size;
	char *image = start() ? contentOf(path, &size) : 0;
	if (image) addModule(handle, library, how, image, size, 1);
	pthread_mutex_unlock(&lock);
}

// forgetKernels forgets the handles of all kernels: when code goes, they may come again.
static void forgetKernels(void) {
	pthread_mutex_lock(&lock);
	for (size_t k = 0; k < nkernels; k++) kernels[k]->handle = 0;
	pthread_mutex_unlock(&lock);
}

// unloaded forgets a module, and all kernels.
static void unloaded(Handle handle, int library) {
	pthread_mutex_lock(&lock);
	for (size_t i = nmodules; i-- > 0;) {
		Module *m = &modules[i];
		if (m->handle != handle || m->library != library) continue;
		m->handle = 0;
		if (m->owned) free((void *)m->image), m->image = 0;
		forgetKernels();
		break;
	}
	pthread_mutex_unlock(&lock);
}

static Module *findModule(Handle handle, int library) {
	for (size_t i = nmodules; i-- > 0;)
		if (modules[i].handle == handle && modules[i].library == library) return &modules[i];
	return 0;
}

// moduleOf finds the module of a function, or of a kernel of a library.
static Module *moduleOf(Handle handle, Handle function) {
	Handle found = 0;
	if (!CALL("cuKernelGetLibrary", (Handle *, Handle), (&found, handle)) && findModule(found, 1)) return findModule(found, 1);
	if (CALL("cuFuncGetModule", (Handle *, Handle), (&found, function))) return 0;
	if (findModule(found, 0)) return findModule(found, 0);
	for (size_t i = nmodules; i-- > 0;) {
		Handle m = 0;
		if (modules[i].library && modules[i].handle && !CALL("cuLibraryGetModule", (Handle *, Handle), (&m, modules[i].handle)) && m == found) return &modules[i];
	}
	return 0;
}

// saveImage writes an image, and beside it the file that it is part of.
static void saveImage(const char *name, const void *image, size_t size, const char *from) {
	char more[40], *full = from ? realpath(from, 0) : 0;
	save(name, image, size);
	snprintf(more, sizeof more, "%s.from", name);
	if (full) save(more, full, strlen(full));
	free(full);
}

static void saveModule(Module *m) {
	if (m->saved) return;
	m->saved = 1;
	char name[32];
	Dl_info info;
	snprintf(name, sizeof name, "m%d", m->id);
	saveImage(name, m->image, m->size, !m->owned && dladdr(m->image, &info) ? info.dli_fname : 0);
	Text t = {0};
	add(&t, "{\"module\":%d,\"how\":\"%s\",\"file\":\"%s\"}", m->id, m->how, name);
	emit(&t);
}

// ask sends a question to the muster that waits, and returns its answer, up to an empty line.
static char *ask(const char *question) {
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	snprintf(to.sun_path, sizeof to.sun_path, "%s/socket", top);
	Own o = own(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
	if (o.fd < 0 || connect(o.fd, (struct sockaddr *)&to, sizeof to) || writeAll(&o, question, strlen(question))) {
		giveUp("muster does not answer: %s", strerror(errno));
		letGo(&o);
		return 0;
	}
	Text t = {0};
	for (;;) {
		room(&t, 4096);
		ssize_t n = still(&o) ? read(o.fd, t.s + t.n, 4096) : 0;
		if (n < 0 && errno == EINTR) continue;
		if (n <= 0) break;
		t.n += n;
	}
	letGo(&o);
	t.s[t.n] = 0;
	if (t.n < 2 || strcmp(t.s + t.n - 2, "\n\n")) {
		giveUp("muster's answer ends early");
		free(t.s);
		return 0;
	}
	return t.s;
}

static int capability(void);                                  // dry.c
static void addForeign(Text *, const unsigned char *, size_t); // dry.c

// describe asks for what the PTX of a kernel says: its parameters and its module's variables.
static void describe(Kernel *k) {
	Text q = {0};
	add(&q, "kernel %d %s/m%d %s\n", capability(), folder, k->module->id, k->name);
	char *answer = ask(q.s), *rest = answer;
	free(q.s);
	for (char *line; answer && (line = strsep(&rest, "\n")) && *line;) {
		char name[1024];
		size_t at, size;
		if (sscanf(line, "ptx %d", &k->target) == 1) k->ptx = 1;
		if (sscanf(line, "param %zu %zu", &at, &size) == 2) {
			k->params = realloc(k->params, (k->nparams + 1) * sizeof *k->params);
			k->params[k->nparams][0] = at, k->params[k->nparams++][1] = size;
		}
		if (sscanf(line, "variable %1023s", name) == 1) {
			k->variables = realloc(k->variables, (k->nvariables + 1) * sizeof *k->variables);
			k->variables[k->nvariables++] = strdup(name);
		}
	}
	free(answer);
}

// named reports whether launches of a kernel are asked for.
static int named(const char *kernel) { return !opt.filtered || !regexec(&opt.kernel, kernel, 0, 0, 0); }

typedef struct Context Context;
static Context *contextNow(void);

// findKernel returns a kernel of the current context; null if the driver does not know it.
static Kernel *findKernel(Handle handle) {
	contextNow(); // forgets those of one that has ended
	for (size_t i = 0; i < nkernels; i++)
		if (kernels[i]->handle == handle) return kernels[i];
	const char *name = 0;
	Handle function = handle;
	if (CALL("cuFuncGetName", (const char **, Handle), (&name, handle)) && CALL("cuKernelGetName", (const char **, Handle), (&name, handle))) return 0;
	int registers;
	if (CALL("cuFuncGetAttribute", (int *, int, Handle), (&registers, FUNC_REGISTERS, handle))) CALL("cuKernelGetFunction", (Handle *, Handle), (&function, handle));
	if (nkernels == ckernels) kernels = realloc(kernels, (ckernels = 2 * ckernels + 64) * sizeof *kernels);
	Kernel *k = kernels[nkernels++] = calloc(1, sizeof *k);
	*k = (Kernel){.handle = handle, .function = function, .name = strdup(name ? name : "")};
	k->module = moduleOf(handle, function);
	if (!k->module) {
		Text t = {0};
		add(&t, "{\"without\":");
		addString(&t, k->name);
		add(&t, ",\"why\":\"its module was not seen when it was loaded\"}");
		emit(&t);
		return k;
	}
	saveModule(k->module);
	if (!off) describe(k);
	if (!off && !k->ptx && named(k->name)) {
		Text t = {0};
		add(&t, "{\"without\":");
		addString(&t, k->name);
		add(&t, ",\"module\":%d}", k->module->id);
		emit(&t);
	}
	return k;
}

// ---- memory

enum { SCANNED = 1 << 20 }; // bytes of a buffer up to which it is searched for pointers
enum { CHUNK = 16 << 20 };  // bytes of one copy

// A Buffer is an allocation that a launch can reach, or a variable of the module.
typedef struct {
	Address base;
	size_t size;
	const char *kind, *variable;
	void *host;
	int kept; // its bytes before the launch are written
} Buffer;

typedef struct {
	int id; // of the launch
	Buffer *list;
	size_t n, cap, bytes;
	Handle copy, event; // of the context
} Memory;

static Result attribute(void *value, int which, Address a) { return CALL("cuPointerGetAttribute", (void *, int, Address), (value, which, a)); }

static void failed(Result r) { giveUp("an error of the program, or of a launch: CUDA's error %d", r); }

// await polls until a stream has done what it was given. It returns 0 when it has, 1 when the
// time is over, -1 if it failed.
static int await(Handle stream, Handle event) {
	Result r = CALL("cuEventRecord", (Handle, Handle), (event, stream));
	double until = now() + opt.wait;
	for (useconds_t pause = 20; !r; pause = pause < 1000 ? 2 * pause : 1000) {
		r = CALL("cuEventQuery", (Handle), (event));
		if (!r) return 0;
		if (r != NOT_READY) break;
		if (now() > until) return 1;
		usleep(pause);
		r = 0;
	}
	if (r == DEINITIALIZED) {
		// Another thread ends the process. Without a capture, this one would still wait for the
		// launch: it does not go back to a program whose driver is gone, and does not hold up
		// the other, which unloads modules.
		off = 1;
		pthread_mutex_unlock(&lock);
		sleep(1);
		pthread_mutex_lock(&lock);
		return -1;
	}
	failed(r);
	return -1;
}

// dump writes the bytes of a buffer to a file. Whole words of it that are addresses lead to
// other buffers, which `found` is called with.
static int dump(Memory *m, Buffer *b, const char *name, void (*found)(Memory *, Address)) {
	static char *chunk;
	if (!chunk) chunk = malloc(CHUNK);
	Own o = chunk ? create(name) : (Own){-1};
	if (o.fd < 0) return -1;
	for (size_t at = 0; at < b->size && !off; at += CHUNK) {
		size_t n = b->size - at < CHUNK ? b->size - at : CHUNK;
		if (b->host) {
			memcpy(chunk, (char *)b->host + at, n);
		} else {
			Result r = CALL("cuMemcpyDtoHAsync_v2", (void *, Address, size_t, Handle), (chunk, b->base + at, n, m->copy));
			if (r) giveUp("%zu bytes at %#llx cannot be copied: CUDA's error %d", n, b->base + at, r);
			else if (await(m->copy, m->event) > 0) giveUp("a copy of %zu bytes does not end", n);
		}
		if (off) break;
		if (writeAll(&o, chunk, n)) cannot(name);
		if (found && b->size <= SCANNED) {
			Address base = b->base; // b may move
			size_t size = b->size;
			for (size_t i = 0; i + 8 <= size; i += 8) found(m, u64(chunk + i));
			b = 0;
			for (size_t i = 0; i < m->n; i++)
				if (m->list[i].base == base) b = &m->list[i];
		}
	}
	letGo(&o);
	return off ? -1 : 0;
}

static Buffer *addBuffer(Memory *m, Buffer b) {
	if (m->n == m->cap) m->list = realloc(m->list, (m->cap = 2 * m->cap + 16) * sizeof *m->list);
	m->list[m->n] = b;
	return &m->list[m->n++];
}

// reach adds the allocation that an address lies in, if it is one.
static void reach(Memory *m, Address a) {
	if (a >> 48 || a < 1 << 20) return;
	for (size_t i = 0; i < m->n; i++)
		if (a - m->list[i].base < m->list[i].size) return;
	Address base = 0;
	size_t size = 0;
	unsigned type = 0, managed = 0;
	int at = -1;
	void *host = 0;
	if (attribute(&type, POINTER_MEMORY_TYPE, a) || attribute(&base, POINTER_START, a) || attribute(&size, POINTER_SIZE, a) || !size) return;
	attribute(&managed, POINTER_MANAGED, a);
	attribute(&at, POINTER_DEVICE, a);
	if (type == MEMORY_HOST && attribute(&host, POINTER_HOST, base)) return;
	const char *kind = managed ? "managed" : type == MEMORY_HOST ? "host" : type == MEMORY_DEVICE ? "device" : 0;
	if (!kind) return;
	if (!strcmp(kind, "device") && at != device) kind = "peer";
	// A module's variables may lie in one allocation: what is known of it is cut out.
	Address end = base + size;
	for (size_t i = 0; i < m->n; i++) {
		Address from = m->list[i].base, to = from + m->list[i].size;
		if (from > a && from < end) end = from;
		if (to <= a && to > base) base = to;
	}
	size = end - base;
	addBuffer(m, (Buffer){base, size, kind, 0, managed ? 0 : host, 0});
}

// variables adds the variables of the kernel's module.
static void variables(Memory *m, Kernel *k) {
	for (size_t i = 0; i < k->nvariables; i++) {
		Address a = 0;
		size_t size = 0;
		Result r = k->module->library ? CALL("cuLibraryGetGlobal", (Address *, size_t *, Handle, const char *), (&a, &size, k->module->handle, k->variables[i])) : -1;
		if (r && k->module->library) r = CALL("cuLibraryGetManaged", (Address *, size_t *, Handle, const char *), (&a, &size, k->module->handle, k->variables[i]));
		if (r && !k->module->library) r = CALL("cuModuleGetGlobal_v2", (Address *, size_t *, Handle, const char *), (&a, &size, k->module->handle, k->variables[i]));
		if (!r && size) addBuffer(m, (Buffer){a, size, "device", k->variables[i], 0, 0});
	}
}

// ---- launches

static int nlaunches;
static unsigned long ordinal; // of launches of kernels that --kernel names

typedef struct {
	int on, id;
	double began;
	Memory mem;
	Handle stream;
} Capture;

// A Seen is a launch that others repeat.
typedef struct {
	uint64_t key;
	int launch;
	unsigned long times;
} Seen;

static Seen *seen;
static size_t nseen, cseen;

static uint64_t hash(uint64_t h, const void *data, size_t n) {
	for (const unsigned char *p = data; n-- > 0; p++) h = (h ^ *p) * 0x100000001b3;
	return h;
}

// repeated returns the launch with this key that was recorded, and counts it; -1: there is none.
static int repeated(uint64_t key) {
	for (size_t i = 0; i < nseen; i++)
		if (seen[i].key == key) return seen[i].times++, seen[i].launch;
	if (nseen == cseen) seen = realloc(seen, (cseen = 2 * cseen + 64) * sizeof *seen);
	seen[nseen++] = (Seen){key, nlaunches, 0};
	return -1;
}

// notSeen takes back that others repeat a launch.
static void notSeen(int launch) {
	for (size_t i = nseen; i-- > 0;)
		if (seen[i].launch == launch) seen[i] = seen[--nseen];
}

// A Context is one that launched. The driver reads what a dead handle points at, and may crash:
// no handle is given to it of which it is not known that the context is still there.
struct Context {
	Handle context;
	unsigned long long id; // no other context of the process has it; 0: a driver before CUDA 12
	int device;
	Handle copy, event; // ours, once there is something to copy
};

static Context known[64];
static size_t nknown;

static void touchedAll(void); // order.c

// contextsEnd forgets a context, or all of a device, and the code in them.
static void contextsEnd(Handle context, int of) {
	pthread_mutex_lock(&lock);
	forgetKernels();
	for (size_t i = nknown; i-- > 0;)
		if (known[i].context == context || known[i].device == of) known[i] = known[--nknown];
	pthread_mutex_unlock(&lock);
}

// contextNow returns the current context; null: there is none. If its handle was that of
// another one, which ended unseen, the other is forgotten.
static Context *contextNow(void) {
	Context c = {0};
	if (CALL("cuCtxGetCurrent", (Handle *), (&c.context)) || !c.context || CALL("cuCtxGetDevice", (int *), (&c.device))) return 0;
	CALL("cuCtxGetId", (Handle, unsigned long long *), (0, &c.id));
	for (size_t i = 0; i < nknown; i++)
		if (known[i].context == c.context && known[i].id == c.id) return &known[i];
	for (size_t i = 0; i < nknown; i++)
		if (known[i].context == c.context) touchedAll(), contextsEnd(c.context, -1);
	if (nknown == COUNT(known)) return giveUp("more than %zu contexts", nknown), (Context *)0;
	known[nknown] = c;
	return &known[nknown++];
}

// contextOf gives the current context what it needs to copy: a stream and an event.
static int contextOf(Memory *m, Handle *context) {
	Context *c = contextNow();
	if (!c) return -1;
	Result r = c->event ? 0 : CALL("cuStreamCreate", (Handle *, unsigned), (&c->copy, 1)); // it waits for no other stream
	if (!r && !c->event) r = CALL("cuEventCreate", (Handle *, unsigned), (&c->event, 2)); // without times
	if (r) return giveUp("no stream of its own: CUDA's error %d", r), -1;
	*context = c->context, m->copy = c->copy, m->event = c->event;
	return 0;
}

static void provenance(void) {
	static int told;
	if (told++) return;
	char name[200] = "";
	int version = 0;
	CALL("cuDeviceGetName", (char *, int, int), (name, sizeof name, device));
	CALL("cuDriverGetVersion", (int *), (&version));
	const char *rank = getenv("RANK");
	if (!rank) rank = getenv("OMPI_COMM_WORLD_RANK");
	Text t = {0};
	add(&t, "{\"process\":%d,\"rank\":", (int)getpid());
	addString(&t, rank);
	add(&t, ",\"gpu\":");
	addString(&t, name);
	add(&t, ",\"capability\":[%d,%d],\"driver\":%d}", capability() / 10, capability() % 10, version);
	emit(&t);
}

// A Before is the launch directly before another in its stream, if it was recorded or was like a
// recorded one; its number, else -1.
typedef struct { int launch, again; } Before;

static Before beforeIn(Handle stream);        // order.c
static void follows(Handle stream, Before b); // order.c

// depends reports whether a launch may begin before the one before it in its stream has ended.
static int depends(Config *c) {
	for (unsigned i = 0; i < c->nattrs; i++)
		if (c->attrs[i].id == ATTR_DEPENDENT && c->attrs[i].value[0]) return 1;
	return 0;
}

// wanted reports whether a launch is one to record. Otherwise *like is the recorded launch that
// it repeats; -1: none.
static int wanted(Kernel *k, Config *c, const void *args, size_t n, Before b, int *like) {
	*like = -1;
	if (!named(k->name)) return 0;
	unsigned long i = ordinal++;
	if (!k->ptx) return 0;
	if (opt.nranges > 0) {
		for (int r = 0; r < opt.nranges; r++)
			if (opt.range[r][0] <= i && i <= opt.range[r][1]) return 1;
		return 0;
	}
	uint64_t key = hash(0xcbf29ce484222325, k->name, strlen(k->name));
	key = hash(key, c->grid, sizeof c->grid + sizeof c->block + sizeof c->shared);
	key = hash(key, args, n);
	if (depends(c)) key = hash(key, &b.launch, sizeof b.launch);
	*like = repeated(key);
	return *like < 0 && k->recorded++ < opt.perKernel;
}

// arguments copies the parameters of a launch to one block, as the driver lays them out.
static size_t arguments(Kernel *k, void **params, void **extra, unsigned char *block, size_t max, Text *layout) {
	size_t used = 0, n = 0, given = 0;
	const unsigned char *packed = 0;
	if (!params && extra)
		for (void **e = extra; *e; e += 2) {
			if (*e == (void *)1) packed = e[1];
			if (*e == (void *)2) given = *(size_t *)e[1];
		}
	for (size_t i = 0;; i++) {
		size_t at, size;
		if (CALL("cuFuncGetParamInfo", (Handle, size_t, size_t *, size_t *), (k->function, i, &at, &size)) && CALL("cuKernelGetParamInfo", (Handle, size_t, size_t *, size_t *), (k->handle, i, &at, &size))) {
			// A driver older than CUDA 12.4 does not say: the PTX does.
			if (i >= k->nparams) break;
			at = k->params[i][0], size = k->params[i][1];
		}
		if (at + size > max) break;
		const unsigned char *from = params ? params[i] : packed && at + size <= given ? packed + at : 0;
		if (!from) break;
		for (; used < at; used++) block[used] = 0;
		memcpy(block + at, from, size);
		used = at + size;
		add(layout, "%s[%zu,%zu]", n++ ? "," : "", at, size);
	}
	return used;
}

static void addDims(Text *t, const char *name, const unsigned *d) { add(t, ",\"%s\":[%u,%u,%u]", name, d[0], d[1], d[2]); }

static unsigned graphs; // launches that became part of graphs

static void tellGraphs(void) {
	Text t = {0};
	add(&t, "{\"graph\":%u}", graphs);
	emit(&t);
}

// keep writes what the launch can reach, if all that came before has ended.
static void keep(Capture *c, int ended) {
	for (size_t i = 0; i < c->mem.n && !off && !ended; i++) {
		Buffer *b = &c->mem.list[i];
		char name[64];
		if (!strcmp(b->kind, "peer") || b->size > opt.maxBytes - c->mem.bytes) continue;
		c->mem.bytes += b->size;
		b->kept = 1;
		snprintf(name, sizeof name, "l%d.b%zu", c->id, i);
		dump(&c->mem, b, name, reach);
	}
}

static void addBuffers(Text *t, Capture *c) {
	for (size_t i = 0; i < c->mem.n; i++) {
		Buffer *b = &c->mem.list[i];
		add(t, "%s{\"base\":\"%#llx\",\"size\":%zu,\"kind\":\"%s\"", i ? "," : "", b->base, b->size, b->kind);
		if (b->variable) add(t, ",\"variable\":"), addString(t, b->variable);
		if (b->kept) add(t, ",\"file\":\"l%d.b%zu\"", c->id, i);
		add(t, "}");
	}
}

// before records a launch that is about to be made.
static void before(Capture *c, Handle f, Config *cfg, int perThread, void **params, void **extra) {
	unsigned char block[32 << 10];
	Text layout = {0}, t = {0};
	char name[64];
	Handle context;
	c->stream = cfg->stream ? cfg->stream : perThread ? threadStream : legacyStream;
	int capturing = 0;
	Result r = CALL("cuStreamIsCapturing", (Handle, int *), (c->stream, &capturing));
	if (r) { // unless a capture forbids it, and the launch, something is broken
		if (r < CAPTURE_FIRST || r > CAPTURE_LAST) failed(r);
		return;
	}
	if (capturing) {
		// A launch that becomes part of a graph. How many there are is told at 1, 2, 4 …, since
		// the process may end at any time.
		graphs++;
		if (!(graphs & (graphs - 1))) tellGraphs();
		return;
	}
	Kernel *k = findKernel(f);
	Before b = beforeIn(c->stream);
	int like;
	if (!k || off) return follows(c->stream, (Before){-1, 0});
	size_t n = arguments(k, params, extra, block, sizeof block, &layout);
	if (!wanted(k, cfg, block, n, b, &like)) {
		follows(c->stream, (Before){like, 1});
		goto done;
	}
	if (contextOf(&c->mem, &context) || CALL("cuCtxGetDevice", (int *), (&device))) goto done;
	provenance();
	int ended = await(c->stream, c->mem.event);
	if (off) goto done;
	c->on = 1, c->mem.id = c->id = nlaunches++;
	follows(c->stream, (Before){c->id, 0});

	snprintf(name, sizeof name, "l%d.args", c->id);
	save(name, block, n);
	variables(&c->mem, k);
	for (size_t i = 0; i + 8 <= n; i += 4) reach(&c->mem, u64(block + i));
	keep(c, ended);

	int registers = 0, shared = 0, local = 0;
	size_t heap = 0;
	CALL("cuFuncGetAttribute", (int *, int, Handle), (&registers, FUNC_REGISTERS, k->function));
	CALL("cuFuncGetAttribute", (int *, int, Handle), (&shared, FUNC_SHARED, k->function));
	CALL("cuFuncGetAttribute", (int *, int, Handle), (&local, FUNC_LOCAL, k->function));
	CALL("cuCtxGetLimit", (size_t *, int), (&heap, LIMIT_HEAP));
	add(&t, "{\"launch\":%d,\"ordinal\":%lu,\"kernel\":", c->id, ordinal - 1);
	addString(&t, k->name);
	add(&t, ",\"module\":%d,\"device\":%d,\"context\":\"%p\",\"stream\":\"%p\"", k->module->id, device, context, c->stream);
	addDims(&t, "grid", cfg->grid);
	addDims(&t, "block", cfg->block);
	add(&t, ",\"shared\":%u,\"static\":%d,\"local\":%d,\"registers\":%d,\"heap\":%zu,\"attributes\":[", cfg->shared, shared, local, registers, heap);
	for (unsigned i = 0; i < cfg->nattrs; i++) {
		Attribute *a = &cfg->attrs[i];
		add(&t, "%s[%d,%u,%u,%u]", i ? "," : "", a->id, a->value[0], a->value[1], a->value[2]);
	}
	add(&t, "],\"params\":[%s],\"args\":\"l%d.args\",\"early\":%s,\"follows\":%d,\"again\":%s,\"buffers\":[", layout.s ? layout.s : "", c->id, ended ? "true" : "false", b.launch, b.again ? "true" : "false");
	addBuffers(&t, c);
	add(&t, "]");
	addForeign(&t, block, n);
	add(&t, "}");
	emit(&t);
done:
	free(layout.s);
}

// after records what a launch left: nothing, if the driver refused it. The program may make it
// again, the same, when it has found out why.
static void after(Capture *c, Result r) {
	Text t = {0};
	int running = r ? 1 : await(c->stream, c->mem.event);
	if (r) notSeen(c->id);
	if (!off) {
		for (size_t i = 0; !running && i < c->mem.n && !off; i++) {
			char name[64];
			snprintf(name, sizeof name, "l%d.a%zu", c->id, i);
			if (c->mem.list[i].kept) dump(&c->mem, &c->mem.list[i], name, 0);
		}
		add(&t, "{\"after\":%d,\"result\":%d,\"ended\":%s,\"micros\":%ld}", c->id, r, running ? "false" : "true", (long)((now() - c->began) * 1e6));
		emit(&t);
	}
	free(c->mem.list);
}

static __thread int inside; // a call of ours

// RECORDED makes a call that launches, with what comes before it recorded, and what it left.
#define RECORDED(before, call) \
	({ \
		Capture cap = {.began = now()}; \
		int own = !inside++; \
		int mode = 2; /* relaxed: what a capture of a stream elsewhere forbids does not concern it */ \
		if (own) { \
			pthread_mutex_lock(&lock); \
			if (start()) { \
				CALL("cuThreadExchangeStreamCaptureMode", (int *), (&mode)); \
				before; \
				CALL("cuThreadExchangeStreamCaptureMode", (int *), (&mode)); \
			} \
		} \
		Result result = dry() ? 0 : call; \
		if (own) { \
			if (cap.on && !dry()) { \
				mode = 2; \
				CALL("cuThreadExchangeStreamCaptureMode", (int *), (&mode)); \
				after(&cap, result); \
				CALL("cuThreadExchangeStreamCaptureMode", (int *), (&mode)); \
			} \
			pthread_mutex_unlock(&lock); \
		} \
		inside--; \
		result; \
	})

#define LAUNCH(config, perThread, function, params, extra, call) RECORDED(before(&cap, function, config, perThread, params, extra), call)

// ended says how often launches were repeated.
__attribute__((destructor)) static void ended(void) {
	if (!ready || off) return;
	if (graphs) tellGraphs();
	for (size_t i = 0; i < nseen; i++) {
		if (!seen[i].times) continue;
		Text t = {0};
		add(&t, "{\"repeat\":%d,\"times\":%lu}", seen[i].launch, seen[i].times);
		emit(&t);
	}
}

// ---- the functions that stand before the driver's

#define REAL(name, types) ((Result(*) types)driver(name))

#define LAUNCHES(suffix, perThread) \
	PUBLIC Result cuLaunchKernel##suffix(Handle f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, Handle stream, void **params, void **extra) { \
		Config c = {{gx, gy, gz}, {bx, by, bz}, shared, stream, 0, 0}; \
		return LAUNCH(&c, perThread, f, params, extra, REAL("cuLaunchKernel" #suffix, (Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, void **, void **))(f, gx, gy, gz, bx, by, bz, shared, stream, params, extra)); \
	} \
	PUBLIC Result cuLaunchKernelEx##suffix(Config *c, Handle f, void **params, void **extra) { \
		return LAUNCH(c, perThread, f, params, extra, REAL("cuLaunchKernelEx" #suffix, (Config *, Handle, void **, void **))(c, f, params, extra)); \
	} \
	PUBLIC Result cuLaunchCooperativeKernel##suffix(Handle f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, Handle stream, void **params) { \
		Attribute cooperative = {ATTR_COOPERATIVE, 0, {1}}; \
		Config c = {{gx, gy, gz}, {bx, by, bz}, shared, stream, &cooperative, 1}; \
		return LAUNCH(&c, perThread, f, params, 0, REAL("cuLaunchCooperativeKernel" #suffix, (Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, void **))(f, gx, gy, gz, bx, by, bz, shared, stream, params)); \
	}

LAUNCHES(, 0)
LAUNCHES(_ptsz, 1)

static const void *stubOf(const void *image), *stubOfFile(const char *path); // dry.c
static Result stubbed(int isStub, Result r);

// LOADED records an image if its load succeeded.
#define LOADED(call, record) \
	({ \
		Result result = call; \
		if (!result) record; \
		result; \
	})

PUBLIC Result cuModuleLoadData(Handle *m, const void *image) {
	const void *give = stubOf(image);
	return LOADED(stubbed(give != image, REAL("cuModuleLoadData", (Handle *, const void *))(m, give)), loaded(*m, 0, "cuModuleLoadData", image));
}
PUBLIC Result cuModuleLoadDataEx(Handle *m, const void *image, unsigned n, int *options, void **values) {
	const void *give = stubOf(image);
	if (give != image) n = 0; // options are for the image
	return LOADED(stubbed(give != image, REAL("cuModuleLoadDataEx", (Handle *, const void *, unsigned, int *, void **))(m, give, n, options, values)), loaded(*m, 0, "cuModuleLoadDataEx", image));
}
PUBLIC Result cuModuleLoadFatBinary(Handle *m, const void *image) {
	const void *give = stubOf(image);
	return LOADED(stubbed(give != image, REAL(give == image ? "cuModuleLoadFatBinary" : "cuModuleLoadData", (Handle *, const void *))(m, give)), loaded(*m, 0, "cuModuleLoadFatBinary", image));
}
PUBLIC Result cuModuleLoad(Handle *m, const char *path) {
	const void *give = stubOfFile(path);
	return LOADED(stubbed(give != 0, give ? REAL("cuModuleLoadData", (Handle *, const void *))(m, give) : REAL("cuModuleLoad", (Handle *, const char *))(m, path)), loadedFile(*m, 0, "cuModuleLoad", path));
}
PUBLIC Result cuModuleUnload(Handle m) {
	unloaded(m, 0);
	return REAL("cuModuleUnload", (Handle))(m);
}
PUBLIC Result cuLibraryLoadData(Handle *l, const void *image, int *jit, void **jitValues, unsigned nJit, int *options, void **values, unsigned n) {
	const void *give = stubOf(image);
	if (give != image) nJit = 0;
	return LOADED(stubbed(give != image, REAL("cuLibraryLoadData", (Handle *, const void *, int *, void **, unsigned, int *, void **, unsigned))(l, give, jit, jitValues, nJit, options, values, n)), loaded(*l, 1, "cuLibraryLoadData", image));
}
PUBLIC Result cuLibraryLoadFromFile(Handle *l, const char *path, int *jit, void **jitValues, unsigned nJit, int *options, void **values, unsigned n) {
	const void *give = stubOfFile(path);
	return LOADED(stubbed(give != 0, give ? REAL("cuLibraryLoadData", (Handle *, const void *, int *, void **, unsigned, int *, void **, unsigned))(l, give, 0, 0, 0, options, values, n) : REAL("cuLibraryLoadFromFile", (Handle *, const char *, int *, void **, unsigned, int *, void **, unsigned))(l, path, jit, jitValues, nJit, options, values, n)), loadedFile(*l, 1, "cuLibraryLoadFromFile", path));
}
PUBLIC Result cuLibraryUnload(Handle l) {
	unloaded(l, 1);
	return REAL("cuLibraryUnload", (Handle))(l);
}

// compiled keeps the PTX of a program of NVRTC beside the machine code made of it, which the
// program may load instead. The functions come from the same library as its compiler.
static void compiled(void *program, void *compiler) {
	Dl_info info;
	void *lib = dladdr(compiler, &info) ? dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD) : 0;
	if (!lib) return;
	static int n;
	pthread_mutex_lock(&lock);
	if (start()) {
		static const char *const parts[][3] = {{"nvrtcGetPTXSize", "nvrtcGetPTX", "ptx"}, {"nvrtcGetCUBINSize", "nvrtcGetCUBIN", "cubin"}};
		for (size_t i = 0; i < COUNT(parts); i++) {
			int (*sizeOf)(void *, size_t *) = (int (*)(void *, size_t *))muster_dlsym(lib, parts[i][0]);
			int (*get)(void *, char *) = (int (*)(void *, char *))muster_dlsym(lib, parts[i][1]);
			size_t size = 0;
			if (!sizeOf || !get || sizeOf(program, &size) || size < 2) continue;
			char *data = malloc(size), name[40];
			snprintf(name, sizeof name, "nvrtc%d.%s", n, parts[i][2]);
			if (data && !get(program, data)) save(name, data, size);
			free(data);
		}
		n++;
	}
	pthread_mutex_unlock(&lock);
	dlclose(lib);
}

static void *compileProgram;
static void *next(const char *, const char *); // link.c

PUBLIC int nvrtcCompileProgram(void *program, int n, const char *const *options) {
	if (!compileProgram) compileProgram = next("nvrtcCompileProgram", "libnvrtc.so");
	if (!compileProgram) return 11; // NVRTC_ERROR_INTERNAL_ERROR
	int result = ((int (*)(void *, int, const char *const *))compileProgram)(program, n, options);
	if (!result) compiled(program, compileProgram);
	return result;
}

// ---- how the program gets at them

PUBLIC Result cuGetProcAddress(const char *, void **, int, uint64_t);
PUBLIC Result cuGetProcAddress_v2(const char *, void **, int, uint64_t, int *);

static void *standGraph(const char *, int); // graph.c
static void *standDry(const char *);         // dry.c
static void *standOrder(const char *, int);  // order.c
static void *standLink(const char *, void ***); // link.c

// stand returns the function that stands before the driver's of a name; null if none does.
static void *stand(const char *name, int perThread) {
#define PLAIN(f) {#f, (void *)f, (void *)f}
#define STREAM(f) {#f, (void *)f, (void *)f##_ptsz}, {#f "_ptsz", (void *)f##_ptsz, (void *)f##_ptsz}
	static const struct { const char *name; void *plain, *perThread; } table[] = {
		STREAM(cuLaunchKernel), STREAM(cuLaunchKernelEx), STREAM(cuLaunchCooperativeKernel),
		PLAIN(cuModuleLoadData), PLAIN(cuModuleLoadDataEx), PLAIN(cuModuleLoadFatBinary), PLAIN(cuModuleLoad), PLAIN(cuModuleUnload),
		PLAIN(cuLibraryLoadData), PLAIN(cuLibraryLoadFromFile), PLAIN(cuLibraryUnload),
		PLAIN(cuGetProcAddress), PLAIN(cuGetProcAddress_v2),
	};
	for (size_t i = 0; i < COUNT(table); i++)
		if (!strcmp(name, table[i].name)) return perThread ? table[i].perThread : table[i].plain;
	void *s = standGraph(name, perThread), **real;
	if (!s) s = standDry(name);
	if (!s) s = standLink(name, &real);
	return s ? s : standOrder(name, perThread);
}

static Result given(Result r, const char *name, void **f, int version, uint64_t flags) {
	if (r || !f || !*f) return r;
	if (!strcmp(name, "cuGetProcAddress") && version >= 12000) name = "cuGetProcAddress_v2";
	if (!strcmp(name, "cuGraphInstantiate") && version >= 12000) name = "cuGraphInstantiateWithFlags";
	if (!strcmp(name, "cuGraphInstantiate") && version >= 11000) name = "cuGraphInstantiate_v2";
	if (!strcmp(name, "cuGraphExecUpdate") && version >= 12000) name = "cuGraphExecUpdate_v2";
	if (!strcmp(name, "cuGraphExecKernelNodeSetParams") && version >= 12000) name = "cuGraphExecKernelNodeSetParams_v2";
	if (!strcmp(name, "cuLinkAddData")) name = "cuLinkAddData_v2";
	if (!strcmp(name, "cuLinkAddFile")) name = "cuLinkAddFile_v2";
	char later[64];
	int perThread = (flags & 2) != 0;
	void *s = 0;
	// The names of the second versions of functions are asked for without that.
	int since = !strncmp(name, "cuStreamW", 9) || !strncmp(name, "cuStreamB", 9) ? 11070 : !strncmp(name, "cuDeviceP", 9) ? 11000 : !strncmp(name, "cuCtxD", 6) ? 4000 : 3020;
	if (version >= since && snprintf(later, sizeof later, "%s_v2", name) < (int)sizeof later && driver(later)) s = standOrder(later, perThread);
	if (!s) s = stand(name, perThread);
	if (s) *f = s;
	return r;
}

PUBLIC Result cuGetProcAddress(const char *name, void **f, int version, uint64_t flags) {
	return given(REAL("cuGetProcAddress", (const char *, void **, int, uint64_t))(name, f, version, flags), name, f, version, flags);
}
PUBLIC Result cuGetProcAddress_v2(const char *name, void **f, int version, uint64_t flags, int *status) {
	return given(REAL("cuGetProcAddress_v2", (const char *, void **, int, uint64_t, int *))(name, f, version, flags, status), name, f, version, flags);
}

// muster_find answers dlsym for the names that concern it, and null for all others.
__attribute__((visibility("hidden"), used)) void *muster_find(void *handle, const char *name) {
	findDlsym();
	if (!name || (strncmp(name, "cu", 2) && strncmp(name, "nv", 2) && strncmp(name, "__nv", 4))) return 0;
	void *s = stand(name, 0), **before = 0;
	if (!s) return 0;
	void *real = muster_dlsym(handle, name);
	if (!real) return 0; // the jump below asks again, and the error is the program's
	if (standLink(name, &before) && before && real != s) *before = real;
	return s;
}

// dlsym is passed on by a jump: the C library finds its caller by the return address, and
// RTLD_NEXT is meant from there.
#if defined(__x86_64__)
__asm__(".text\n.globl dlsym\n.type dlsym, @function\ndlsym:\n"
	"	push %rdi\n	push %rsi\n	sub $8, %rsp\n"
	"	call muster_find\n"
	"	add $8, %rsp\n	pop %rsi\n	pop %rdi\n"
	"	test %rax, %rax\n	jz 1f\n	ret\n"
	"1:	mov muster_dlsym(%rip), %rax\n	jmp *%rax\n"
	".size dlsym, . - dlsym\n");
#elif defined(__aarch64__)
__asm__(".text\n.globl dlsym\n.type dlsym, %function\ndlsym:\n"
	"	stp x29, x30, [sp, -32]!\n	stp x0, x1, [sp, 16]\n"
	"	bl muster_find\n"
	"	mov x16, x0\n	ldp x0, x1, [sp, 16]\n	ldp x29, x30, [sp], 32\n"
	"	cbz x16, 1f\n	mov x0, x16\n	ret\n"
	"1:	adrp x16, muster_dlsym\n	ldr x16, [x16, :lo12:muster_dlsym]\n	br x16\n"
	".size dlsym, . - dlsym\n");
#else
#error "muster capture runs on x86-64 and arm64"
#endif
