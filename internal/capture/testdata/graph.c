// Graphs of the driver in cuda.c: a list of nodes, run in their order.
typedef struct {
	H f;
	unsigned grid[3], block[3], shared;
	void **params, **extra;
	H kernel, context;
} KernelNode;
typedef struct {
	P to;
	size_t pitch;
	unsigned value, element;
	size_t width, height;
} FillNode;
typedef struct {
	size_t x, y, z, lod;
	unsigned type;
	void *host;
	P device;
	H array;
	void *reserved;
	size_t pitch, height;
} Side;
typedef struct {
	Side from, to;
	size_t width, height, depth;
} CopyNode;
typedef struct {
	int type;
	P p;
	uint32_t n;
	void *params[2];
	KernelNode kernel;
	FillNode fill;
	CopyNode copy;
} GNode;
typedef struct {
	GNode nodes[8];
	int n, edges, from[8], to[8], kind[8];
} TestGraph;

H cuTestGraph(void) { return calloc(1, sizeof(TestGraph)); }
static GNode *addNode(TestGraph *g, int type) { return g->nodes[g->n].type = type, &g->nodes[g->n++]; }
static void setKernel(GNode *n, H f, P p, uint32_t count) {
	n->p = p, n->n = count, n->params[0] = &n->p, n->params[1] = &n->n;
	n->kernel = (KernelNode){f, {1, 1, 1}, {128, 1, 1}, 0, n->params};
}
H cuTestKernel(H g, H f, P p, uint32_t count) {
	GNode *n = addNode(g, 0);
	return setKernel(n, f, p, count), n;
}
H cuTestFill(H g, P to, int value, size_t n) {
	GNode *node = addNode(g, 2);
	return node->fill = (FillNode){to, n, value, 1, n, 1}, node;
}
H cuTestCopy(H g, P to, P from, size_t n) {
	GNode *node = addNode(g, 1);
	node->copy = (CopyNode){{.type = 2, .device = from}, {.type = 4, .device = to}, n, 1, 1};
	return node;
}
R cuTestEdge(H h, H from, H to, int kind) {
	TestGraph *g = h;
	g->from[g->edges] = (GNode *)from - g->nodes, g->to[g->edges] = (GNode *)to - g->nodes, g->kind[g->edges++] = kind;
	return 0;
}
R cuGraphInstantiateWithFlags(H *exec, H graph, uint64_t flags) {
	TestGraph *g = *exec = malloc(sizeof *g), *from = graph;
	*g = *from;
	for (int i = 0; i < g->n; i++)
		if (!g->nodes[i].type) setKernel(&g->nodes[i], g->nodes[i].kernel.f, g->nodes[i].p, g->nodes[i].n);
	return 0;
}
R cuGraphGetNodes(H h, H *nodes, size_t *n) {
	TestGraph *g = h;
	for (int i = 0; nodes && i < g->n; i++) nodes[i] = &g->nodes[i];
	return *n = g->n, 0;
}
R cuGraphGetEdges_v2(H h, H *from, H *to, void *data, size_t *n) {
	TestGraph *g = h;
	for (int i = 0; from && i < g->edges; i++) from[i] = &g->nodes[g->from[i]], to[i] = &g->nodes[g->to[i]], ((unsigned char *)data)[8 * i + 2] = g->kind[i];
	return *n = g->edges, 0;
}
R cuGraphNodeGetType(H n, int *type) { return *type = ((GNode *)n)->type, 0; }
R cuGraphKernelNodeGetParams_v2(H n, KernelNode *p) { return *p = ((GNode *)n)->kernel, 0; }
R cuGraphMemsetNodeGetParams(H n, FillNode *p) { return *p = ((GNode *)n)->fill, 0; }
R cuGraphMemcpyNodeGetParams(H n, CopyNode *p) { return *p = ((GNode *)n)->copy, 0; }
R cuGraphExecKernelNodeSetParams_v2(H exec, H node, KernelNode *p) {
	TestGraph *g = exec;
	for (int i = 0; i < g->n; i++)
		if (!g->nodes[i].type && g->nodes[i].p == *(P *)p->params[0]) return g->nodes[i].n = *(uint32_t *)p->params[1], 0;
	return 1;
}
R cuTestSet(H exec, H node, H f, P p, uint32_t n) {
	void *params[] = {&p, &n};
	KernelNode k = {f, {1, 1, 1}, {128, 1, 1}, 0, params};
	return cuGraphExecKernelNodeSetParams_v2(exec, node, &k);
}
R cuGraphLaunch(H exec, H stream) {
	TestGraph *g = exec;
	for (int i = 0; i < g->n; i++) {
		GNode *n = &g->nodes[i];
		uint32_t *p = (uint32_t *)(uintptr_t)n->p;
		if (n->type == 0)
			for (uint32_t k = 0; k < n->n; k++) p[k] += variable.count;
		if (n->type == 1) memcpy((void *)(uintptr_t)n->copy.to.device, (void *)(uintptr_t)n->copy.from.device, n->copy.width);
		if (n->type == 2) memset((void *)(uintptr_t)n->fill.to, n->fill.value, n->fill.width);
	}
	return 0;
}
R cuGraphExecDestroy(H exec) { return free(exec), 0; }
