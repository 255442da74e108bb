
// ---- linked code
//
// Machine code that is linked while the program runs has no PTX beside it: what it is linked
// from has. So each input of a linker is kept as CODE.0, CODE.1 …, where CODE is the file of
// what comes out.

typedef struct {
	void *linker;
	int id, inputs;
} Link;

static Link *links;
static size_t nlinks, clinks;

static Link *findLink(void *linker) {
	for (size_t i = 0; i < nlinks; i++)
		if (links[i].linker == linker) return &links[i];
	return 0;
}

// input keeps what a linker is given.
static void input(void *linker, const void *data, size_t size) {
	static int ids;
	char name[48];
	pthread_mutex_lock(&lock);
	if (data && start()) {
		Link *l = findLink(linker);
		if (!l) {
			if (nlinks == clinks) links = realloc(links, (clinks = 2 * clinks + 16) * sizeof *links);
			links[nlinks++] = (Link){linker, ids++, 0};
			l = &links[nlinks - 1];
		}
		snprintf(name, sizeof name, "link%d.cubin.%d", l->id, l->inputs++);
		save(name, data, size);
	}
	pthread_mutex_unlock(&lock);
}

static void inputFile(void *linker, const char *path) {
	size_t size;
	char *data = contentOf(path, &size);
	if (data) input(linker, data, size);
	free(data);
}

// output keeps what a linker made, and forgets the linker: its handle may come again.
static void output(void *linker, const void *code) {
	char name[48];
	size_t size;
	pthread_mutex_lock(&lock);
	Link *l = findLink(linker);
	if (l && code && start() && (code = imageOf(code, &size))) {
		snprintf(name, sizeof name, "link%d.cubin", l->id);
		save(name, code, size);
		*l = links[--nlinks];
	}
	pthread_mutex_unlock(&lock);
}

// drySource is what a linker gives in a dry capture: a line that leads to its inputs.
static char *drySource(void *linker) {
	Text t = {0};
	pthread_mutex_lock(&lock);
	Link *l = findLink(linker);
	if (l) add(&t, "// linked by the driver: %s/link%d.cubin\n", folder, l->id);
	pthread_mutex_unlock(&lock);
	return t.s;
}

// The driver's linker.
PUBLIC Result cuLinkAddData_v2(Handle state, int type, void *data, size_t size, const char *name, unsigned n, int *options, void **values) {
	input(state, data, size);
	return dry() ? 0 : REAL("cuLinkAddData_v2", (Handle, int, void *, size_t, const char *, unsigned, int *, void **))(state, type, data, size, name, n, options, values);
}
PUBLIC Result cuLinkAddFile_v2(Handle state, int type, const char *path, unsigned n, int *options, void **values) {
	inputFile(state, path);
	return dry() ? 0 : REAL("cuLinkAddFile_v2", (Handle, int, const char *, unsigned, int *, void **))(state, type, path, n, options, values);
}
PUBLIC Result cuLinkComplete(Handle state, void **code, size_t *size) {
	char *text = dry() ? drySource(state) : 0;
	if (text) *code = text, *size = strlen(text) + 1; // the program may keep it
	Result r = text ? 0 : REAL("cuLinkComplete", (Handle, void **, size_t *))(state, code, size);
	if (!r) output(state, *code);
	return r;
}

// next finds the function of a library that one of ours stands before: the next one of its
// name, or that of a library which was loaded for others alone, and so is not searched.
typedef struct {
	const char *name;
	char path[512];
} Search;

static int isLibrary(struct dl_phdr_info *info, size_t size, void *data) {
	Search *s = data;
	const char *file = info->dlpi_name ? strrchr(info->dlpi_name, '/') : 0;
	return file && !strncmp(file + 1, s->name, strlen(s->name)) && snprintf(s->path, sizeof s->path, "%s", info->dlpi_name) > 0;
}

static void *next(const char *name, const char *library) {
	findDlsym();
	Search s = {library};
	void *f = muster_dlsym(RTLD_NEXT, name), *lib;
	if (!f && dl_iterate_phdr(isLibrary, &s) && (lib = dlopen(s.path, RTLD_NOW | RTLD_NOLOAD))) f = muster_dlsym(lib, name), dlclose(lib);
	return f;
}

// nvJitLink's linker. Its header gives each function a name with the toolkit's version.
#define JIT_VERSIONS(X) \
	X(, ) X(__, _12_0) X(__, _12_1) X(__, _12_2) X(__, _12_3) X(__, _12_4) X(__, _12_5) X(__, _12_6) X(__, _12_7) X(__, _12_8) X(__, _12_9) \
	X(__, _13_0) X(__, _13_1) X(__, _13_2) X(__, _13_3) X(__, _13_4) X(__, _13_5)

// JIT declares a function of each version, with a pointer to the real one.
#define JIT(name, types) \
	({ \
		if (!real_##name) real_##name = next(#name, "libnvJitLink.so"); \
		(int (*) types)real_##name; \
	})

enum { JIT_ERROR_INTERNAL = 6 };

#define JIT_FUNCTIONS(before, after) \
	static void *real_##before##nvJitLinkAddData##after, *real_##before##nvJitLinkAddFile##after, *real_##before##nvJitLinkGetLinkedCubin##after; \
	PUBLIC int before##nvJitLinkAddData##after(void *linker, int type, const void *data, size_t size, const char *name) { \
		int (*real)(void *, int, const void *, size_t, const char *) = JIT(before##nvJitLinkAddData##after, (void *, int, const void *, size_t, const char *)); \
		if (!real) return JIT_ERROR_INTERNAL; \
		input(linker, data, size); \
		return real(linker, type, data, size, name); \
	} \
	PUBLIC int before##nvJitLinkAddFile##after(void *linker, int type, const char *path) { \
		int (*real)(void *, int, const char *) = JIT(before##nvJitLinkAddFile##after, (void *, int, const char *)); \
		if (!real) return JIT_ERROR_INTERNAL; \
		inputFile(linker, path); \
		return real(linker, type, path); \
	} \
	PUBLIC int before##nvJitLinkGetLinkedCubin##after(void *linker, void *code) { \
		int (*real)(void *, void *) = JIT(before##nvJitLinkGetLinkedCubin##after, (void *, void *)); \
		int result = real ? real(linker, code) : JIT_ERROR_INTERNAL; \
		if (!result) output(linker, code); \
		return result; \
	}

JIT_VERSIONS(JIT_FUNCTIONS)

// standLink is stand for linkers; *real gets what the program found, if it is not the driver's.
static void *standLink(const char *name, void ***real) {
#define JIT_ROWS(before, after) JIT_ROW(before##nvJitLinkAddData##after) JIT_ROW(before##nvJitLinkAddFile##after) JIT_ROW(before##nvJitLinkGetLinkedCubin##after)
#define JIT_ROW(f) {#f, (void *)f, &real_##f},
	static const struct { const char *name; void *f, **real; } table[] = {
		{"cuLinkAddData_v2", (void *)cuLinkAddData_v2}, {"cuLinkAddFile_v2", (void *)cuLinkAddFile_v2}, {"cuLinkComplete", (void *)cuLinkComplete},
		{"nvrtcCompileProgram", (void *)nvrtcCompileProgram, &compileProgram}, JIT_VERSIONS(JIT_ROWS)
	};
	for (size_t i = 0; i < COUNT(table); i++)
		if (!strcmp(name, table[i].name)) return *real = table[i].real, table[i].f;
	return 0;
}
