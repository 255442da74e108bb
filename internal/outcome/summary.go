package outcome

import (
	"cmp"
	"math/bits"
	"slices"

	"muster/internal/machine"
	"muster/internal/order"
)

// A Summary is what runs showed of the words of a launch. Those of several runs are
// joined by Add. It is data that can be written down.
type Summary struct {
	Words []Word `json:"words,omitempty"`
	// Over: there were more words than were watched.
	Over bool `json:"over,omitempty"`
	// Charges are instructions on mbarriers at which lanes of a warp charge different
	// phases.
	Charges []int32 `json:"charges,omitempty"`
	// Equal are stores of what others store, in no order: a judge forgets at their
	// places what came before.
	Equal []int32 `json:"equal,omitempty"`
}

// A Word is one of a launch.
type Word struct {
	Kind uint8  `json:"kind,omitempty"`
	Mem  int32  `json:"mem"`
	Addr uint64 `json:"addr"`
	// Open: see the theorem.
	Open bool `json:"open,omitempty"`
	// Parted: somebody may see part of what several lanes did here in one step.
	Parted bool `json:"parted,omitempty"`
	// From are the words, by their numbers in Summary.Words, from which causality
	// leads here.
	From []int32 `json:"from,omitempty"`
	// PCs are instructions that causality does not relate, Several those that
	// several lanes of a warp made together.
	PCs     []int32 `json:"pcs,omitempty"`
	Several []int32 `json:"several,omitempty"`
	// Lanes are those that came here, by warp.
	Lanes []Lanes `json:"lanes,omitempty"`
}

// A Lanes is lanes of a warp.
type Lanes struct {
	CTA  int32  `json:"cta"`
	Warp int32  `json:"warp"`
	Mask uint32 `json:"mask"`
}

// Summary returns what the run showed.
func (r *Run) Summary() Summary {
	s := Summary{Over: r.over, Charges: sorted(r.parts), Equal: r.order.EqualStores(), Words: make([]Word, len(r.list))}
	for i, w := range r.list {
		s.Words[i] = Word{Kind: uint8(w.key.kind), Mem: int32(w.key.mem), Addr: w.key.addr, Open: w.open, Parted: w.parted, PCs: sorted(w.pcs), Several: sorted(w.several), Lanes: lanesOf(w.visits)}
		for k, v := range w.from {
			for ; v != 0; v &= v - 1 {
				s.Words[i].From = append(s.Words[i].From, int32(64*k+bits.TrailingZeros64(v)))
			}
		}
	}
	return s
}

func lanesOf(visits []order.Moment) []Lanes {
	var out []Lanes
	for _, v := range visits {
		out = addLanes(out, Lanes{v.CTA, v.Warp, v.Lanes})
	}
	return out
}

func addLanes(list []Lanes, l Lanes) []Lanes {
	i, found := slices.BinarySearchFunc(list, l, compareWarps)
	if found {
		list[i].Mask |= l.Mask
		return list
	}
	return slices.Insert(list, i, l)
}

func compareWarps(a, b Lanes) int {
	return cmp.Or(cmp.Compare(a.CTA, b.CTA), cmp.Compare(a.Warp, b.Warp))
}

func (l Lanes) several() bool { return l.Mask&(l.Mask-1) != 0 }

func sorted(pcs []int32) []int32 {
	out := slices.Clone(pcs)
	slices.Sort(out)
	return slices.Compact(out)
}

func (w *Word) key() key { return key{kind(w.Kind), machine.MemID(w.Mem), w.Addr} }

func (k key) compare(o key) int {
	return cmp.Or(cmp.Compare(k.kind, o.kind), cmp.Compare(k.mem, o.mem), cmp.Compare(k.addr, o.addr))
}

// Add joins what other runs showed. The outcome does not depend on the order in
// which summaries are joined.
func (s *Summary) Add(o Summary) {
	s.Over = s.Over || o.Over
	s.Charges, s.Equal = sorted(append(s.Charges, o.Charges...)), sorted(append(s.Equal, o.Equal...))
	if len(o.Words) == 0 {
		return
	}
	keys := make([]key, 0, len(s.Words)+len(o.Words))
	for _, list := range [][]Word{s.Words, o.Words} {
		for i := range list {
			keys = append(keys, list[i].key())
		}
	}
	slices.SortFunc(keys, key.compare)
	keys = slices.Compact(keys)
	words := make([]Word, len(keys))
	for i, k := range keys {
		words[i] = Word{Kind: uint8(k.kind), Mem: int32(k.mem), Addr: k.addr}
	}
	for _, list := range [][]Word{s.Words, o.Words} {
		number := make([]int32, len(list))
		for i := range list {
			n, _ := slices.BinarySearchFunc(keys, list[i].key(), key.compare)
			number[i] = int32(n)
		}
		for i := range list {
			words[number[i]].join(&list[i], number)
		}
	}
	s.Words = words
}

// join adds what is known of a word, given what the numbers of words are now.
func (w *Word) join(o *Word, number []int32) {
	w.Open, w.Parted = w.Open || o.Open, w.Parted || o.Parted
	w.PCs, w.Several = sorted(append(w.PCs, o.PCs...)), sorted(append(w.Several, o.Several...))
	for _, f := range o.From {
		w.From = append(w.From, number[f])
	}
	w.From = sorted(w.From)
	for _, l := range o.Lanes {
		w.Lanes = addLanes(w.Lanes, l)
	}
}

// Beyond returns the instructions at words that lie on a cycle of the word graph:
// there are executions, or may be, that are no interleaving. None: every execution is
// one.
func (s *Summary) Beyond() []int32 {
	open := 0
	for i := range s.Words {
		if s.Words[i].Open {
			open++
		}
	}
	var pcs []int32
	for i := range s.Words {
		w := &s.Words[i]
		if w.Open && (s.onCycle(int32(i)) || s.Over && open > 1) {
			pcs = append(pcs, w.PCs...)
		}
	}
	return sorted(pcs)
}

// onCycle reports whether an open word's edges lead back to it.
func (s *Summary) onCycle(at int32) bool {
	seen := make([]bool, len(s.Words))
	todo := []int32{at}
	for len(todo) > 0 {
		w := &s.Words[todo[len(todo)-1]]
		todo = todo[:len(todo)-1]
		for _, f := range w.From {
			if f == at {
				return true
			}
			if !seen[f] && s.Words[f].Open {
				seen[f] = true
				todo = append(todo, f)
			}
		}
	}
	return false
}

// apart reports whether it may show in which order lanes of one warp come to a word.
func (w *Word) apart() bool { return (w.Open || w.Parted) && w.Kind == uint8(memory) }

// lanes returns the lanes that come to words at which their order may show.
func (s *Summary) lanes() []Lanes {
	var lanes []Lanes
	for i := range s.Words {
		if s.Words[i].apart() {
			for _, l := range s.Words[i].Lanes {
				lanes = addLanes(lanes, l)
			}
		}
	}
	return lanes
}

// Apart reports whether several lanes of one warp come to words at which their order
// may show. Lanes that branches part must then not wait for each other where they
// need not.
func (s *Summary) Apart() bool { return slices.ContainsFunc(s.lanes(), Lanes.several) }

// Parts returns the instructions whose lanes have to be let go one by one for every
// interleaving of threads to be among those of warps: of a warp of which several
// lanes come to words that are open, or at which somebody may see a part of a step.
func (s *Summary) Parts() []int32 {
	lanes := s.lanes()
	several := func(l Lanes) bool {
		k, found := slices.BinarySearchFunc(lanes, l, compareWarps)
		return found && lanes[k].several()
	}
	pcs := slices.Clone(s.Charges)
	for i := range s.Words {
		w := &s.Words[i]
		if w.apart() && slices.ContainsFunc(w.Lanes, several) {
			pcs = append(pcs, w.Several...)
		}
	}
	return sorted(pcs)
}
