package litmus

import (
	"muster/internal/coherence"
	"muster/internal/machine"
)

// What the machine has for litmus tests alone: outcomes behind data races, virtual aliases, other
// proxies than the generic one, and a second GPU. The kernel accesses memory in one way; labels
// say what stands for an access of another kind. Executions are those in which weak accesses take
// versions, too (package coherence, Racing).

// versionsOfAll begins a schedule in which weak accesses take versions.
const versionsOfAll = "weak:"

// mixes reports whether a test has virtual aliases or other proxies.
func (t *Test) mixes() bool {
	if len(t.Aliases) > 0 {
		return true
	}
	for k := range t.Threads {
		for _, in := range t.Threads[k].Code {
			if in.Proxy != Generic || in.Kind == ProxyFence {
				return true
			}
		}
	}
	return false
}

// vectors reports whether a test has accesses of several words.
func (t *Test) vectors() bool {
	for k := range t.Threads {
		for _, in := range t.Threads[k].Code {
			if in.Kind == Load && len(in.Dst) > 1 || in.Kind == Store && len(in.Src) > 1 {
				return true
			}
		}
	}
	return false
}

// size is how many bytes of memory a test has, those of other virtual addresses included.
func (t *Test) size() uint64 {
	if len(t.Aliases) > 0 {
		return firstAlias + 4*uint64(len(t.Aliases))
	}
	return 4 * uint64(max(t.Words, 1))
}

// same gives the word of memory that one at another virtual address is.
func (t *Test) same() func(machine.Word) machine.Word {
	if len(t.Aliases) == 0 {
		return nil
	}
	return func(w machine.Word) machine.Word {
		if i := (w.Addr - memoryBase - firstAlias) / 4; w.Addr >= memoryBase+firstAlias && i < uint64(len(t.Aliases)) {
			w.Addr = memoryBase + 4*uint64(t.Aliases[i])
		}
		return w
	}
}

// gpus gives the GPU of each CTA, nil if there is one.
func (t *Test) gpus() func(cta int32) int {
	ctas, _, _ := t.ctas()
	of, several := map[int32]int{}, false
	for k := range t.Threads {
		h := &t.Threads[k]
		of[int32(ctas[h.CTA])] = h.GPU
		several = several || h.GPU != t.Threads[0].GPU
	}
	if !several {
		return nil
	}
	return func(cta int32) int { return of[cta] }
}

// proxy gives the proxy of an instruction, or that a proxy fence is for.
func (k *Kernel) proxy(p *machine.Program) func(pc int32) coherence.Proxy {
	return func(pc int32) coherence.Proxy {
		if in := k.lines[int(p.Pos(pc).Line)]; in != nil {
			return coherenceProxies[in.Proxy]
		}
		return coherence.Generic
	}
}

var coherenceProxies = [...]coherence.Proxy{Generic: coherence.Generic, Texture: coherence.Texture, Surface: coherence.Surface, Constant: coherence.Constant, Alias: coherence.Alias}

// lasts calls f with each way in which the words of memory may end, whose registers v has.
func (t *Test) lasts(m *machine.Machine, words *coherence.Racing, v []uint32, out *Outcomes, f func([]uint32)) {
	if words.Over() {
		out.Why = "a run has more accesses than are followed"
		return
	}
	may, states := map[int][]uint32{}, 1 // by word of memory
	for i := range t.Observed {
		o := &t.Observed[i]
		if _, done := may[o.Word]; done || o.Thread >= 0 {
			continue
		}
		w := machine.Word{Mem: machine.Global, Addr: memoryBase + 4*uint64(o.Word), Size: 4}
		for _, name := range words.Last(w) {
			if x, ok := m.Value(w, name); ok {
				may[o.Word] = append(may[o.Word], uint32(x))
			}
		}
		if states *= len(may[o.Word]); states > maxStates || len(out.List) > maxOutcomes {
			out.Why = "there are more outcomes than are told apart"
			return
		}
	}
	var walk func(i int)
	walk = func(i int) {
		switch {
		case i == len(v):
			f(v)
		case t.Observed[i].Thread >= 0:
			walk(i + 1)
		default:
			word := t.Observed[i].Word
			list := may[word]
			for _, x := range list {
				v[i], may[word] = x, []uint32{x} // the same for all that name it
				walk(i + 1)
			}
			may[word] = list
		}
	}
	walk(0)
}

// mixesVectors says that the machine lacks what a test needs: the elements of a vector access have
// no versions of their own where aliases do.
func (t *Test) mixesVectors() error {
	if t.mixes() && t.vectors() {
		return &Need{t.File, 0, 0, "accesses of one word each, where it has aliases or other proxies"}
	}
	return nil
}
