package shapes

// shapes are small: two or four CTAs, a lap or two of each ring.
var shapes = []Shape{
	{"cooperative", "CUTLASS's cooperative kernel (`PipelineTmaAsync`), clusters 2×1: two warpgroups share a tile of 128 × 128", multiplies(Product{X: 2, Y: 1, Blocks: 3, Stages: 3, Turns: 2}, Product.Cooperative), []Twin{
		{"the wait leaves what is released in flight", []string{"overwrite-in-flight"}},
		{"the newest stage is released", []string{"never-completes"}},
		{"the last product is not waited for", []string{"overwrite-in-flight"}},
		{"the empty barriers count the own consumers", []string{"arrivals-excess", "overwrite-in-flight"}},
		{"the empty barriers count one more", []string{"never-completes"}},
		{"a release goes to the own CTA", []string{"phase-mixing", "overwrite-in-flight"}},
		{"a release has no scope", []string{"scope-defaulted"}},
		{"the barriers are made without a fence", []string{"init-not-ordered"}},
		{"a CTA expects what it loads", []string{"bytes-early"}},
		{"a CTA exits before the other releases", []string{"exit-before-remote"}},
		{"the warpgroups ask for too many registers", []string{"register-budget"}},
	}, nil},
	{"cooperative-2x2", "the same in clusters of 2×2: A and B are both multicast", multiplies(Product{X: 2, Y: 2, Blocks: 3, Stages: 2, Turns: 2}, Product.Cooperative), []Twin{
		{"the empty barriers count all consumers", []string{"never-completes"}},
		{"all consumers release to all", []string{"phase-mixing"}},
		{"the wait leaves what is released in flight", []string{"overwrite-in-flight"}},
		{"a CTA exits before the other releases", []string{"exit-before-remote"}},
	}, nil},
	{"cooperative-source", "the same with a source that a second producer warp loads, and that D is written over (`ReuseSmemC`)", multiplies(Product{X: 2, Y: 1, Blocks: 3, Stages: 4, Turns: 2, Source: true}, Product.Cooperative), []Twin{
		{"a strip is given back before it is stored", []string{"overwrite-in-flight"}},
		{"a strip is written while it is read", []string{"race-lanes"}},
		{"the source is not waited for", []string{"read-in-flight"}},
		{"no proxy fence", []string{"proxy-raw", "proxy-waw"}},
	}, nil},
	{"cooperative-peek", "the same with a test for the next stage while a product is under way, as in the mixed-input kernels", multiplies(Product{X: 2, Y: 1, Blocks: 3, Stages: 3, Turns: 2, Peek: true}, Product.Cooperative), []Twin{
		{"the test is of the stage that is in use", []string{"read-in-flight"}},
		{"the test is made once for all stages", []string{"read-in-flight"}},
	}, nil},
	{"cooperative-split", "the same with K split between three clusters, which add up in global memory as stream-K does", multiplies(Product{X: 2, Y: 1, Blocks: 2, Stages: 3, Turns: 2, Split: 3}, Product.Cooperative), []Twin{
		{"a count may come before the sums", []string{"race-lanes"}},
		{"a count has no fence", []string{"relaxed-sync"}},
		{"the count is read without an acquire", []string{"relaxed-sync"}},
		{"one thread alone waits for the count", []string{"race-global"}},
	}, nil},
	{"pingpong", "CUTLASS's pingpong kernel: a tile for each warpgroup, turns by an `OrderedSequenceBarrier`, one epilogue's buffers for both", multiplies(Product{X: 2, Y: 1, Blocks: 3, Stages: 4, Turns: 4}, Product.Pingpong), []Twin{
		{"both warpgroups begin", []string{"race-shared", "named-barrier-mismatch"}},
		{"a turn counts one thread", []string{"arrivals-excess"}},
		{"an epilogue does not wait for its turn", []string{"race-shared", "named-barrier-mismatch"}},
		{"the turn is passed before the stores have read", []string{"overwrite-in-flight"}},
		{"the second begins with the first's stages", []string{"read-in-flight", "never-completes"}},
		{"the epilogue's barrier counts both", []string{"never-completes"}},
		{"the parity does not flip", []string{"read-in-flight", "never-completes"}},
		{"no proxy fence", []string{"proxy-raw"}},
		{"only the issuing warp fences", []string{"proxy-raw"}},
		{"nobody waits for the strip to be written", []string{"race-shared"}},
		{"a strip is overwritten while it is stored", []string{"overwrite-in-flight"}},
		{"two stores may be under way", []string{"overwrite-in-flight"}},
		{"nobody is told that a buffer is free", []string{"overwrite-in-flight"}},
	}, nil},
	{"attention", "FlashAttention-3's forward pass: `WarpSchedulerBarrier`, overlap within a warpgroup, O over V, persistent", attends(Attention{CTAs: 1, Turns: 2, Blocks: 4}), []Twin{
		{"nobody has the first turn", []string{"never-completes"}},
		{"a turn is passed to oneself", []string{"never-completes"}},
		{"a turn counts one warpgroup", []string{"read-in-flight", "named-barrier-mismatch"}},
		{"the second waits for K and not the first", []string{"read-in-flight"}},
		{"nobody waits for Q", []string{"read-in-flight"}},
		{"nobody waits for V", []string{"read-in-flight"}},
		{"Q is loaded while it is used", []string{"overwrite-in-flight"}},
		{"Q is given back before its last product", []string{"overwrite-in-flight"}},
		{"K is given back while it is multiplied", []string{"overwrite-in-flight"}},
		{"V is given back while it is multiplied", []string{"overwrite-in-flight"}},
		{"the weights are overwritten in flight", []string{"register-in-flight"}},
		{"no fence before the products of V", []string{"register-in-flight"}},
		{"O is written while V is read", []string{"overwrite-in-flight"}},
		{"no fence before the store", []string{"proxy-raw"}},
		{"the last warp is not counted twice", []string{"named-barrier-mismatch"}},
		{"O is given back while it is stored", []string{"overwrite-in-flight"}},
		{"V is loaded while O is stored", []string{"overwrite-in-flight"}},
	}, nil},
	{"attention-transpose", "the same with V transposed by the producer's warpgroup between two pipelines", attends(Attention{CTAs: 1, Turns: 2, Blocks: 4, Transpose: true}), []Twin{
		{"the transpose has no barrier", []string{"lapped-wait", "read-in-flight"}},
		{"no fence after the transpose", []string{"proxy-raw"}},
		{"the fence comes after the arrival", []string{"proxy-raw"}},
		{"nobody waits for V", []string{"lapped-wait"}},
		{"V is loaded while O is stored", []string{"overwrite-in-flight"}},
	}, nil},
	{"attention-dynamic", "the same with `DynamicPersistentTileScheduler`", attends(Attention{CTAs: 2, Turns: 2, Blocks: 2, Dynamic: true}), []Twin{
		{"a number is overwritten while it is read", []string{"race-shared"}},
	}, nil},
	{"attention-cluster", "the same in clusters of 2×1 that share K and V", attends(Attention{CTAs: 2, Turns: 2, Blocks: 3, Cluster: 2}), []Twin{
		{"a CTA exits before the other has stored", []string{"exit-before-remote"}},
		{"O is given back while it is stored", []string{"overwrite-in-flight"}},
	}, nil},
	{"attention-transpose-cluster", "both", attends(Attention{CTAs: 2, Turns: 2, Blocks: 3, Cluster: 2, Transpose: true}), []Twin{
		{"the transpose has no barrier", []string{"lapped-wait"}},
	}, nil},
	{"fast", "fast.cu's `matmul_12`: a list of tiles, clusters of 2×1, one thread for each CTA releases; B loaded by halves, and what fast.cu leaves out put in", fast(false), []Twin{
		{"a stage is released before the wait", []string{"overwrite-in-flight"}},
		{"the empty barriers count one CTA", []string{"arrivals-excess", "overwrite-in-flight"}},
		{"both releases go to the own CTA", []string{"phase-mixing", "overwrite-in-flight"}},
		{"nobody releases the stages first", []string{"never-completes"}},
		{"the parity flips a stage early", []string{"never-completes"}},
		{"each thread waits for its own stores", []string{"overwrite-in-flight"}},
		{"nobody waits for the last store", []string{"overwrite-in-flight"}},
		{"no proxy fence", []string{"proxy-raw"}},
		{"a CTA exits while its tile is stored", []string{"exit-in-flight"}},
		{"a CTA exits before the other releases", []string{"exit-before-remote"}},
		{"a release has no scope", []string{"scope-defaulted"}},
	}, nil},
	{"fast-leader", "the same, B loaded by the first CTA for both, as in fast.cu and DeepGEMM", fast(true), []Twin{
		{"one thread releases to both", []string{"phase-mixing"}},
		{"both releases go to the own CTA", []string{"phase-mixing"}},
		{"a stage is released before the wait", []string{"overwrite-in-flight"}},
	}, []string{"mixed-lanes"}},
}

// multiplies makes a kernel of a configuration with a mistake; so does attends.
func multiplies(p Product, write func(Product) (*Work, error)) func(string) (*Work, error) {
	return func(mistake string) (*Work, error) {
		p := p
		p.mistake = mistake
		return write(p)
	}
}

func attends(p Attention) func(string) (*Work, error) {
	return func(mistake string) (*Work, error) {
		p := p
		p.mistake = mistake
		return p.Forward()
	}
}

func fast(leads bool) func(string) (*Work, error) {
	return func(mistake string) (*Work, error) { return Fast(leads, mistake) }
}
