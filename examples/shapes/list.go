package shapes

// of makes a shape of a configuration with a mistake.
func of(p Product, write func(Product) (*Work, error)) func(string) (*Work, error) {
	return func(mistake string) (*Work, error) {
		p := p
		p.mistake = mistake
		return write(p)
	}
}

func attend(p Attention) func(string) (*Work, error) {
	return func(mistake string) (*Work, error) {
		p := p
		p.mistake = mistake
		return p.Forward()
	}
}

var products = []Twin{
	{"the wait leaves what is released in flight", []string{"overwrite-in-flight"}},
	{"the newest stage is released", []string{"never-completes"}},
	{"the last product is not waited for", []string{"overwrite-in-flight"}},
	{"the empty barriers count the own consumers", []string{"overwrite-in-flight"}},
	{"the empty barriers count one more", []string{"never-completes"}},
	{"a release goes to the own CTA", []string{"overwrite-in-flight"}},
	{"the parity does not flip", []string{"read-in-flight"}},
	{"no proxy fence", []string{"proxy-raw"}},
	{"nobody waits for the strip to be written", []string{"race-shared"}},
	{"a strip is overwritten while it is stored", []string{"overwrite-in-flight"}},
	{"two stores may be under way", []string{"overwrite-in-flight"}},
	{"nobody is told that a buffer is free", []string{"overwrite-in-flight"}},
	{"a CTA exits while its tile is stored", []string{"exit-in-flight"}},
	{"a CTA exits before the other releases", []string{"exit-before-remote"}},
	{"a release has no scope", []string{"scope-defaulted"}},
}

var attentions = []Twin{
	{"nobody has the first turn", []string{"never-completes"}},
	{"a turn is passed to oneself", []string{"never-completes"}},
	{"a turn counts one warpgroup", []string{"read-in-flight"}},
	{"nobody waits for Q", []string{"read-in-flight"}},
	{"nobody waits for V", []string{"lapped-wait"}},
	{"Q is loaded while it is used", []string{"overwrite-in-flight"}},
	{"K is given back while it is multiplied", []string{"overwrite-in-flight"}},
	{"V is given back while it is multiplied", []string{"overwrite-in-flight"}},
	{"the weights are overwritten in flight", []string{"register-in-flight"}},
	{"O is written while V is read", []string{"overwrite-in-flight"}},
	{"no fence before the store", []string{"proxy-raw"}},
	{"the last warp is not counted twice", []string{"named-barrier-mismatch"}},
	{"O is given back while it is stored", []string{"overwrite-in-flight"}},
	{"V is loaded while O is stored", []string{"overwrite-in-flight"}},
}

var shapes = []Shape{
	{"cooperative", of(Product{X: 2, Y: 1, Blocks: 5, Stages: 4, Turns: 2}, Product.Cooperative), products},
	{"cooperative-2x2", of(Product{X: 2, Y: 2, Blocks: 5, Stages: 2, Turns: 2}, Product.Cooperative), append([]Twin{
		{"the empty barriers count all consumers", []string{"never-completes"}},
	}, products...)},
	{"cooperative-source", of(Product{X: 2, Y: 1, Blocks: 3, Stages: 4, Turns: 2, Source: true}, Product.Cooperative), []Twin{
		{"a strip is given back before it is stored", []string{"overwrite-in-flight"}},
		{"a strip is written while it is read", []string{"race-lanes"}},
		{"the source is not waited for", []string{"read-in-flight"}},
		{"no proxy fence", []string{"proxy-raw"}},
	}},
	{"pingpong", of(Product{X: 2, Y: 1, Blocks: 3, Stages: 4, Turns: 4}, Product.Pingpong), append([]Twin{
		{"both warpgroups begin", []string{"race-shared"}},
		{"a turn counts one thread", []string{"arrivals-excess"}},
		{"the epilogue's barrier counts both", []string{"race-shared"}},
		{"the second begins with the first's stages", []string{"lapped-wait"}},
		{"an epilogue does not wait for its turn", []string{"race-shared"}},
		{"the turn is passed before the stores have read", []string{"overwrite-in-flight"}},
	}, products...)},
	{"attention", attend(Attention{CTAs: 2, Turns: 2, Blocks: 4}), attentions},
	{"attention-transpose", attend(Attention{CTAs: 2, Turns: 2, Blocks: 4, Transpose: true}), append([]Twin{
		{"the transpose has no barrier", []string{"lapped-wait"}},
		{"no fence after the transpose", []string{"proxy-raw"}},
	}, attentions...)},
	{"attention-cluster", attend(Attention{CTAs: 2, Turns: 2, Blocks: 4, Cluster: 2}), append([]Twin{
		{"a CTA exits before the other has stored", []string{"exit-before-remote"}},
	}, attentions...)},
	{"attention-transpose-cluster", attend(Attention{CTAs: 2, Turns: 2, Blocks: 4, Cluster: 2, Transpose: true}), append([]Twin{
		{"the transpose has no barrier", []string{"lapped-wait"}},
	}, attentions...)},
	{"fast", Fast, []Twin{
		{"the empty barriers count one CTA", []string{"overwrite-in-flight"}},
		{"one CTA loads for both", []string{"phase-mixing"}},
		{"both releases go to the own CTA", []string{"overwrite-in-flight"}},
		{"nobody releases the stages first", []string{"never-completes"}},
		{"a stage is released before the wait", []string{"overwrite-in-flight"}},
		{"the parity flips a stage early", []string{"early-wait"}},
		{"each thread waits for its own stores", []string{"overwrite-in-flight"}},
		{"nobody waits for the last store", []string{"overwrite-in-flight"}},
		{"no proxy fence", []string{"proxy-raw"}},
		{"a CTA exits while its tile is stored", []string{"exit-in-flight"}},
		{"a CTA exits before the other releases", []string{"exit-before-remote"}},
		{"a release has no scope", []string{"scope-defaulted"}},
	}},
}
