
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

// loadStub loads a file in a dry capture: null if it has no stub.
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

// standDry is stand for what a dry capture answers.
static void *standDry(const char *name) {
	static const struct { const char *name; void *plain, *perThread; } table[] = {
		PLAIN(cuDeviceGetAttribute), PLAIN(cuDeviceComputeCapability), PLAIN(cuDeviceGetName),
	};
	for (size_t i = 0; i < COUNT(table); i++)
		if (!strcmp(name, table[i].name)) return table[i].plain;
	return 0;
}
