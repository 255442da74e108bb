package capture

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"muster/launch"
)

// The nodes of a graph (CUgraphNodeType) that do something on the device.
const (
	nodeKernel = iota
	nodeCopy
	nodeFill
)

// graph writes the folder of a graph that was launched: one launch file with its nodes, and
// what each comes after.
func (c *converter) graph(p *process, l *recorded, dir string) error {
	w := &writer{converter: c, from: p, recorded: l, dir: dir, types: map[int]launch.Type{}}
	for i := range l.Nodes {
		if why := l.Nodes[i].Lacks; why != "" {
			c.lines = append(c.lines, fmt.Sprintf("launch %d is of a graph with %s, and is not captured", *l.Launch, why))
			return nil
		}
	}
	return w.into(w.nodes)
}

func (w *writer) nodes() error {
	w.file.Version = 1
	texts := map[*module][]string{}
	names := nodeNames(w.Nodes)
	for _, i := range inOrder(w.Nodes) {
		n := &w.Nodes[i]
		if n.Type > nodeFill { // of no effect: those behind it come after those before it
			continue
		}
		of := launch.Launch{Name: names[i], After: []launch.After{}}
		for _, e := range w.before(i) {
			of.After = append(of.After, launch.After{Name: names[e[0]], Programmatic: e[1] != 0})
		}
		if err := w.node(n, i, &of, texts); err != nil {
			return err
		}
		w.file.Launches = append(w.file.Launches, of)
	}
	if len(w.file.Launches) == 0 {
		return fmt.Errorf("the graph has no node of a kernel, a copy or a memset")
	}
	w.buffers()
	if err := w.contents(); err != nil {
		return err
	}
	return w.launchFile()
}

// nodeNames names each node by what it does: by its kernel, fill or copy, and in their order
// where several do the same.
func nodeNames(nodes []node) []string {
	names := make([]string, len(nodes))
	for _, i := range inOrder(nodes) {
		switch nodes[i].Type {
		case nodeKernel:
			names[i] = short(nodes[i].Kernel)
		case nodeCopy:
			names[i] = "copy"
		case nodeFill:
			names[i] = "fill"
		default:
			continue
		}
		base := names[i]
		for k := 2; slices.Index(names, names[i]) != i || slices.Contains(names[i+1:], names[i]); k++ {
			names[i] = fmt.Sprintf("%s-%d", base, k)
		}
	}
	return names
}

// node takes over what a node does.
func (w *writer) node(n *node, i int, of *launch.Launch, texts map[*module][]string) error {
	switch n.Type {
	case nodeKernel:
		m, f := w.sources.find(filepath.Join(w.from.dir, w.from.images[n.Module].File), n.Kernel, w.from.about.there())
		if m == nil {
			return fmt.Errorf("%s: no PTX", short(n.Kernel))
		}
		if texts[m] == nil {
			name := "kernel"
			if len(texts) > 0 {
				name = fmt.Sprintf("kernel%d", len(texts)+1)
			}
			w.module = m
			paths, err := w.ptx(name)
			if err != nil {
				return err
			}
			texts[m] = paths
		}
		of.PTX, of.Link = texts[m][0], texts[m][1:]
		of.Kernel, of.Grid, of.Block = n.Kernel, n.Grid, n.Block
		of.Shared, of.Registers = n.Shared, w.registers(n.Registers)
		w.attributes(of, n.Attributes)
		for _, note := range m.notes(n.Kernel, w.Heap) {
			w.note("%s: %s", of.Name, note)
		}
		return w.arguments(of, f, n.Params, n.Args, fmt.Sprintf("n%dp", i))
	case nodeFill:
		to, err := w.pointer(n.To)
		if err == nil {
			of.SetFill(to, uint8(n.Value), n.Bytes)
		}
		return err
	}
	to, err := w.pointer(n.To)
	if err != nil {
		return err
	}
	from, err := w.pointer(n.From)
	of.SetCopy(to, from, n.Bytes)
	return err
}

// pointer is an address in a buffer.
func (w *writer) pointer(a address) (launch.Pointer, error) {
	b := w.bufferAt(uint64(a))
	if b < 0 {
		return launch.Pointer{}, fmt.Errorf("a copy or a memset at %#x, which is in no buffer", uint64(a))
	}
	return launch.Pointer{Buffer: bufferName(b), Offset: int64(a - w.Buffers[b].Base)}, nil
}

// inOrder lists the nodes so that each comes after those that its edges come from.
func inOrder(nodes []node) []int {
	var list []int
	done := make([]bool, len(nodes))
	var visit func(i int)
	visit = func(i int) {
		if done[i] {
			return
		}
		done[i] = true
		for _, e := range nodes[i].After {
			visit(e[0])
		}
		list = append(list, i)
	}
	for i := range nodes {
		visit(i)
	}
	return list
}

// before returns the nodes with an effect that a node comes after, each with 1 for a
// programmatic edge: edges through nodes without one are joined.
func (w *writer) before(i int) [][2]int {
	var list [][2]int
	seen := map[int]bool{}
	var add func(i int, through bool)
	add = func(i int, through bool) {
		for _, e := range w.Nodes[i].After {
			switch {
			case w.Nodes[e[0]].Type <= nodeFill && through:
				list = append(list, [2]int{e[0], 0})
			case w.Nodes[e[0]].Type <= nodeFill:
				list = append(list, e)
			case !seen[e[0]]:
				seen[e[0]] = true
				add(e[0], true)
			}
		}
	}
	add(i, false)
	// Of two edges from one node that is kept which is not programmatic.
	slices.SortFunc(list, func(a, b [2]int) int { return cmp.Or(a[0]-b[0], a[1]-b[1]) })
	return slices.CompactFunc(list, func(a, b [2]int) bool { return a[0] == b[0] })
}
