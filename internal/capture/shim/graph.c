
// ---- graphs

// A graph is copied when the program instantiates or changes it: its nodes with their
// parameters, and its edges. Each launch of it is recorded as one sequence, with the memory
// that any of its nodes can reach.

enum { NODE_KERNEL, NODE_COPY, NODE_FILL, NODE_HOST, NODE_GRAPH, NODE_EMPTY };

typedef struct {
	Handle function;
	unsigned grid[3], block[3], shared;
	void **params, **extra;
	Handle kernel, context;
} KernelNode;

typedef struct {
	Address to;
	size_t pitch;
	unsigned value, element;
	size_t width, height;
} FillNode;

typedef struct {
	size_t x, y, z, lod;
	unsigned type;
	void *host;
	Address device;
	Handle array;
	void *reserved;
	size_t pitch, height;
} Side;

typedef struct {
	Side from, to;
	size_t width, height, depth;
} CopyNode;

typedef struct {
	int type;
	Handle handle;
	Kernel *kernel;
	Config config;
	Attribute attrs[3];
	unsigned char *args;
	size_t nargs;
	Text layout;
	Address to, from;
	size_t bytes;
	unsigned value;
	const char *lacks; // why the node cannot be part of a sequence
} Node;

typedef struct {
	int from, to, programmatic;
} Edge;

typedef struct {
	Handle exec;
	Node *nodes;
	size_t nnodes;
	Edge *edges;
	size_t nedges;
	unsigned recorded;
} Graph;

static Graph *list;
static size_t nlist, clist;

static void freeGraph(Graph *g) {
	for (size_t i = 0; i < g->nnodes; i++) free(g->nodes[i].args), free(g->nodes[i].layout.s);
	free(g->nodes);
	free(g->edges);
	*g = (Graph){0};
}

static Graph *findGraph(Handle exec) {
	for (size_t i = 0; i < nlist; i++)
		if (list[i].exec == exec) return &list[i];
	return 0;
}

// takeKernel copies what a kernel's node launches.
static void takeKernel(Node *n, KernelNode *p) {
	static unsigned char block[32 << 10];
	n->kernel = findKernel(p->function ? p->function : p->kernel);
	if (!n->kernel) {
		n->lacks = "its kernel has no name";
		return;
	}
	memcpy(n->config.grid, p->grid, sizeof p->grid);
	memcpy(n->config.block, p->block, sizeof p->block);
	n->config.shared = p->shared;
	n->layout.n = 0;
	n->nargs = arguments(n->kernel, p->params, p->extra, block, sizeof block, &n->layout);
	free(n->args);
	n->args = malloc(n->nargs + 1);
	if (n->args) memcpy(n->args, block, n->nargs);
	else giveUp("no memory");
	if (!n->kernel->ptx) n->lacks = "a kernel without PTX";
}

static void takeFill(Node *n, FillNode *p) {
	n->to = p->to, n->value = p->value, n->bytes = p->width * p->element;
	unsigned low = p->value & 255;
	int same = p->element == 1 || (p->element == 2 && p->value == low * 0x101u) || (p->element == 4 && p->value == low * 0x1010101u);
	if (p->height > 1) n->lacks = "a memset of rows";
	else if (!same) n->lacks = "a memset of words whose bytes differ";
	n->value = low;
}

static Address sideOf(Side *s) { return (s->type == 1 ? (Address)(uintptr_t)s->host : s->device) + s->x; }

static void takeCopy(Node *n, CopyNode *p) {
	n->to = sideOf(&p->to), n->from = sideOf(&p->from), n->bytes = p->width;
	if (p->height > 1 || p->depth > 1) n->lacks = "a copy of rows";
	if (p->from.type == 3 || p->to.type == 3) n->lacks = "a copy of an array";
}

// takeNode copies a node.
static void takeNode(Node *n) {
	KernelNode k = {0};
	FillNode fill = {0};
	CopyNode copy = {0};
	Result r = 0;
	switch (n->type) {
	case NODE_KERNEL:
		r = CALL("cuGraphKernelNodeGetParams_v2", (Handle, KernelNode *), (n->handle, &k));
		if (r) r = CALL("cuGraphKernelNodeGetParams", (Handle, KernelNode *), (n->handle, &k));
		if (!r) takeKernel(n, &k);
		static const int wanted[] = {2, 4, 11}; // cooperative, cluster, preferred cluster
		for (size_t i = 0; i < COUNT(wanted) && !r; i++) {
			Attribute *a = &n->attrs[n->config.nattrs];
			if (!CALL("cuGraphKernelNodeGetAttribute", (Handle, int, void *), (n->handle, wanted[i], a->value)) && a->value[0]) a->id = wanted[i], n->config.nattrs++;
		}
		break;
	case NODE_FILL:
		r = CALL("cuGraphMemsetNodeGetParams", (Handle, FillNode *), (n->handle, &fill));
		if (!r) takeFill(n, &fill);
		break;
	case NODE_COPY:
		r = CALL("cuGraphMemcpyNodeGetParams", (Handle, CopyNode *), (n->handle, &copy));
		if (!r) takeCopy(n, &copy);
		break;
	case NODE_EMPTY: case 6: case 7: break; // and events: edges go on through them
	case NODE_HOST: n->lacks = "a function of the host"; break;
	case NODE_GRAPH: n->lacks = "a graph within the graph"; break;
	case 10: case 11: n->lacks = "an allocation"; break;
	case 13: n->lacks = "a condition"; break;
	default: n->lacks = "a node of another kind";
	}
	if (r) n->lacks = "its parameters cannot be asked for";
}

// instantiated copies a graph for its executable form.
static void instantiated(Handle exec, Handle graph) {
	pthread_mutex_lock(&lock);
	size_t n = 0, e = 0;
	if (!start() || CALL("cuGraphGetNodes", (Handle, Handle *, size_t *), (graph, 0, &n)) || !n) goto done;
	Graph *g = findGraph(exec);
	if (g) {
		freeGraph(g);
	} else {
		if (nlist == clist) list = realloc(list, (clist = 2 * clist + 16) * sizeof *list);
		g = &list[nlist++];
		*g = (Graph){0};
	}
	g->exec = exec;
	Handle *nodes = calloc(n, sizeof *nodes), *ends = 0;
	g->nodes = calloc(n, sizeof *g->nodes);
	if (!nodes || !g->nodes || CALL("cuGraphGetNodes", (Handle, Handle *, size_t *), (graph, nodes, &n))) n = 0;
	g->nnodes = n;
	for (size_t i = 0; i < n; i++) {
		g->nodes[i].handle = nodes[i];
		if (CALL("cuGraphNodeGetType", (Handle, int *), (nodes[i], &g->nodes[i].type))) g->nodes[i].type = -1;
		takeNode(&g->nodes[i]);
	}
	unsigned char (*data)[8] = 0;
	int second = !CALL("cuGraphGetEdges_v2", (Handle, Handle *, Handle *, void *, size_t *), (graph, 0, 0, 0, &e));
	if (!second && CALL("cuGraphGetEdges", (Handle, Handle *, Handle *, size_t *), (graph, 0, 0, &e))) e = 0;
	ends = calloc(2 * e + 1, sizeof *ends), data = calloc(e + 1, sizeof *data), g->edges = calloc(e + 1, sizeof *g->edges);
	if (!ends || !data || !g->edges) e = 0;
	if (e && (second ? CALL("cuGraphGetEdges_v2", (Handle, Handle *, Handle *, void *, size_t *), (graph, ends, ends + e, data, &e)) : CALL("cuGraphGetEdges", (Handle, Handle *, Handle *, size_t *), (graph, ends, ends + e, &e)))) e = 0;
	for (size_t i = 0; i < e; i++) {
		Edge edge = {-1, -1, data[i][2] == 1};
		for (size_t k = 0; k < n; k++) {
			if (nodes[k] == ends[i]) edge.from = k;
			if (nodes[k] == ends[e + i]) edge.to = k;
		}
		if (edge.from >= 0 && edge.to >= 0) g->edges[g->nedges++] = edge;
	}
	free(nodes), free(ends), free(data);
done:
	pthread_mutex_unlock(&lock);
}

// changed takes over new parameters of a node of an executable graph.
static void changed(Handle exec, Handle node, void *params) {
	pthread_mutex_lock(&lock);
	Graph *g = findGraph(exec);
	for (size_t i = 0; g && !off && i < g->nnodes; i++) {
		Node *n = &g->nodes[i];
		if (n->handle != node) continue;
		if (n->type == NODE_KERNEL) takeKernel(n, params);
		if (n->type == NODE_FILL) takeFill(n, params);
		if (n->type == NODE_COPY) takeCopy(n, params);
	}
	pthread_mutex_unlock(&lock);
}

static void destroyed(Handle exec) {
	pthread_mutex_lock(&lock);
	Graph *g = findGraph(exec);
	if (g) freeGraph(g), *g = list[--nlist];
	pthread_mutex_unlock(&lock);
}

// wantedGraph is wanted for a launch of a graph.
static int wantedGraph(Graph *g) {
	int named = !opt.filtered;
	uint64_t key = hash(0xcbf29ce484222325, &g->exec, sizeof g->exec);
	for (size_t i = 0; i < g->nnodes; i++) {
		Node *n = &g->nodes[i];
		if (n->kernel && opt.filtered && !regexec(&opt.kernel, n->kernel->name, 0, 0, 0)) named = 1;
		key = hash(key, n->args, n->nargs);
	}
	if (!named) return 0;
	unsigned long i = ordinal++;
	for (size_t k = 0; k < g->nnodes; k++)
		if (g->nodes[k].kernel && !g->nodes[k].kernel->ptx) return 0; // it was said
	if (opt.nranges > 0) {
		for (int r = 0; r < opt.nranges; r++)
			if (opt.range[r][0] <= i && i <= opt.range[r][1]) return 1;
		return 0;
	}
	return repeated(key) < 0 && g->recorded++ < opt.perKernel;
}

static void addNode(Text *t, Capture *c, Graph *g, size_t i) {
	Node *n = &g->nodes[i];
	add(t, "%s{\"type\":%d,\"after\":[", i ? "," : "", n->type);
	for (size_t k = 0, some = 0; k < g->nedges; k++)
		if (g->edges[k].to == (int)i) add(t, "%s[%d,%d]", some++ ? "," : "", g->edges[k].from, g->edges[k].programmatic);
	add(t, "]");
	if (n->lacks) {
		add(t, ",\"lacks\":");
		addString(t, n->lacks);
	} else if (n->type == NODE_KERNEL) {
		char name[64];
		int registers = 0;
		snprintf(name, sizeof name, "l%d.n%zu", c->id, i);
		save(name, n->args, n->nargs);
		CALL("cuFuncGetAttribute", (int *, int, Handle), (&registers, FUNC_REGISTERS, n->kernel->function));
		add(t, ",\"kernel\":");
		addString(t, n->kernel->name);
		add(t, ",\"module\":%d", n->kernel->module->id);
		addDims(t, "grid", n->config.grid);
		addDims(t, "block", n->config.block);
		add(t, ",\"shared\":%u,\"registers\":%d,\"params\":[%s],\"args\":\"%s\",\"attributes\":[", n->config.shared, registers, n->layout.s ? n->layout.s : "", name);
		for (unsigned k = 0; k < n->config.nattrs; k++) add(t, "%s[%d,%u,%u,%u]", k ? "," : "", n->attrs[k].id, n->attrs[k].value[0], n->attrs[k].value[1], n->attrs[k].value[2]);
		add(t, "]");
	} else if (n->type == NODE_FILL || n->type == NODE_COPY) {
		add(t, ",\"to\":\"%#llx\",\"from\":\"%#llx\",\"bytes\":%zu,\"value\":%u", n->to, n->from, n->bytes, n->value);
	}
	add(t, "}");
}

// beforeGraph records a launch of a graph that is about to be made.
static void beforeGraph(Capture *c, Handle exec, Handle stream, int perThread) {
	Text t = {0};
	Handle context;
	Graph *g = findGraph(exec);
	c->stream = stream ? stream : perThread ? threadStream : legacyStream;
	follows(c->stream, (Before){-1, 0});
	if (!g || off || !wantedGraph(g)) return;
	if (contextOf(&c->mem, &context) || CALL("cuCtxGetDevice", (int *), (&device))) return;
	provenance();
	int ended = await(c->stream, c->mem.event);
	if (off) return;
	c->on = 1, c->mem.id = c->id = nlaunches++;
	Kernel **asked = calloc(g->nnodes + 1, sizeof *asked); // one for each module
	size_t nasked = 0;
	for (size_t i = 0; i < g->nnodes && asked; i++) {
		Kernel *k = g->nodes[i].kernel;
		size_t same = 0;
		while (k && k->module && same < nasked && asked[same]->module != k->module) same++;
		if (k && k->module && same == nasked) variables(&c->mem, asked[nasked++] = k);
	}
	free(asked);
	for (size_t i = 0; i < g->nnodes; i++) {
		Node *n = &g->nodes[i];
		for (size_t k = 0; k + 8 <= n->nargs; k += 4) reach(&c->mem, u64(n->args + k));
		if (n->to) reach(&c->mem, n->to);
		if (n->from) reach(&c->mem, n->from);
	}
	keep(c, ended);
	size_t heap = 0;
	CALL("cuCtxGetLimit", (size_t *, int), (&heap, LIMIT_HEAP));
	add(&t, "{\"launch\":%d,\"ordinal\":%lu,\"kernel\":\"graph\",\"module\":0,\"device\":%d,\"context\":\"%p\",\"stream\":\"%p\",\"heap\":%zu,\"nodes\":[", c->id, ordinal - 1, device, context, c->stream, heap);
	for (size_t i = 0; i < g->nnodes; i++) addNode(&t, c, g, i);
	add(&t, "],\"early\":%s,\"buffers\":[", ended ? "true" : "false");
	addBuffers(&t, c);
	add(&t, "]}");
	emit(&t);
}

#define GRAPH_LAUNCH(suffix, perThread) \
	PUBLIC Result cuGraphLaunch##suffix(Handle exec, Handle stream) { \
		return RECORDED(beforeGraph(&cap, exec, stream, perThread), REAL("cuGraphLaunch" #suffix, (Handle, Handle))(exec, stream)); \
	}

GRAPH_LAUNCH(, 0)
GRAPH_LAUNCH(_ptsz, 1)

PUBLIC Result cuGraphInstantiate(Handle *exec, Handle graph, Handle *node, char *text, size_t size) {
	return LOADED(REAL("cuGraphInstantiate", (Handle *, Handle, Handle *, char *, size_t))(exec, graph, node, text, size), instantiated(*exec, graph));
}
PUBLIC Result cuGraphInstantiate_v2(Handle *exec, Handle graph, Handle *node, char *text, size_t size) {
	return LOADED(REAL("cuGraphInstantiate_v2", (Handle *, Handle, Handle *, char *, size_t))(exec, graph, node, text, size), instantiated(*exec, graph));
}
PUBLIC Result cuGraphInstantiateWithFlags(Handle *exec, Handle graph, uint64_t flags) {
	return LOADED(REAL("cuGraphInstantiateWithFlags", (Handle *, Handle, uint64_t))(exec, graph, flags), instantiated(*exec, graph));
}
#define INSTANTIATE(suffix) \
	PUBLIC Result cuGraphInstantiateWithParams##suffix(Handle *exec, Handle graph, void *params) { \
		return LOADED(REAL("cuGraphInstantiateWithParams" #suffix, (Handle *, Handle, void *))(exec, graph, params), instantiated(*exec, graph)); \
	}
INSTANTIATE()
INSTANTIATE(_ptsz)

PUBLIC Result cuGraphExecUpdate(Handle exec, Handle graph, Handle *node, int *how) {
	return LOADED(REAL("cuGraphExecUpdate", (Handle, Handle, Handle *, int *))(exec, graph, node, how), instantiated(exec, graph));
}
PUBLIC Result cuGraphExecUpdate_v2(Handle exec, Handle graph, void *info) {
	return LOADED(REAL("cuGraphExecUpdate_v2", (Handle, Handle, void *))(exec, graph, info), instantiated(exec, graph));
}
PUBLIC Result cuGraphExecKernelNodeSetParams_v2(Handle exec, Handle node, KernelNode *p) {
	return LOADED(REAL("cuGraphExecKernelNodeSetParams_v2", (Handle, Handle, KernelNode *))(exec, node, p), changed(exec, node, p));
}
PUBLIC Result cuGraphExecKernelNodeSetParams(Handle exec, Handle node, KernelNode *p) {
	KernelNode full = {0};
	memcpy(&full, p, offsetof(KernelNode, kernel));
	return LOADED(REAL("cuGraphExecKernelNodeSetParams", (Handle, Handle, KernelNode *))(exec, node, p), changed(exec, node, &full));
}
PUBLIC Result cuGraphExecMemsetNodeSetParams(Handle exec, Handle node, FillNode *p, Handle context) {
	return LOADED(REAL("cuGraphExecMemsetNodeSetParams", (Handle, Handle, FillNode *, Handle))(exec, node, p, context), changed(exec, node, p));
}
PUBLIC Result cuGraphExecMemcpyNodeSetParams(Handle exec, Handle node, CopyNode *p, Handle context) {
	return LOADED(REAL("cuGraphExecMemcpyNodeSetParams", (Handle, Handle, CopyNode *, Handle))(exec, node, p, context), changed(exec, node, p));
}
PUBLIC Result cuGraphExecDestroy(Handle exec) {
	destroyed(exec);
	return REAL("cuGraphExecDestroy", (Handle))(exec);
}

// standGraph is stand for what concerns graphs.
static void *standGraph(const char *name, int perThread) {
	static const struct { const char *name; void *plain, *perThread; } table[] = {
		STREAM(cuGraphLaunch), STREAM(cuGraphInstantiateWithParams), PLAIN(cuGraphInstantiate), PLAIN(cuGraphInstantiate_v2), PLAIN(cuGraphInstantiateWithFlags),
		PLAIN(cuGraphExecUpdate), PLAIN(cuGraphExecUpdate_v2), PLAIN(cuGraphExecKernelNodeSetParams), PLAIN(cuGraphExecKernelNodeSetParams_v2),
		PLAIN(cuGraphExecMemsetNodeSetParams), PLAIN(cuGraphExecMemcpyNodeSetParams), PLAIN(cuGraphExecDestroy),
	};
	for (size_t i = 0; i < COUNT(table); i++)
		if (!strcmp(name, table[i].name)) return perThread ? table[i].perThread : table[i].plain;
	return 0;
}
