package outcome

import (
	"cmp"
	"math/bits"
	"slices"

	"muster/internal/machine"
)

// A Summary is what runs showed of the words of a launch, as serializable data. Add
// joins those of several runs.
type Summary struct {
	Words  []Word  `json:"words,omitempty"`
	Visits []Visit `json:"visits,omitempty"`
	// Over: words that were not watched may have shown an order.
	Over bool `json:"over,omitempty"`
	// Charges are instructions on mbarriers at which lanes of a warp charge different
	// phases.
	Charges []int32 `json:"charges,omitempty"`
	// Equal are stores of the value that an unordered store wrote: at their places a
	// Tracker forgets earlier accesses.
	Equal []int32 `json:"equal,omitempty"`
}

// A Word is one word of a launch.
type Word struct {
	Kind uint8  `json:"kind,omitempty"`
	Mem  int32  `json:"mem"`
	Addr uint64 `json:"addr"`
	// Open and Placed: see the theorem.
	Open   bool `json:"open,omitempty"`
	Placed bool `json:"placed,omitempty"`
	// Parted: a thread may see part of what several lanes did here in one step.
	Parted bool `json:"parted,omitempty"`
	// PCs are instructions that causality does not relate, Several those that several
	// lanes of a warp executed together.
	PCs     []int32 `json:"pcs,omitempty"`
	Several []int32 `json:"several,omitempty"`
}

// A Visit is all that lanes of one warp do to a word.
type Visit struct {
	Word int32 `json:"word"` // of Summary.Words
	Lanes
	// Loose: causality does not relate it to another visit; Inside: to itself.
	Loose  bool `json:"loose,omitempty"`
	Inside bool `json:"inside,omitempty"`
	// From are the visits, as indices into Summary.Visits, with an edge to this one.
	From []int32 `json:"from,omitempty"`
}

// A Lanes is a set of lanes of a warp.
type Lanes struct {
	CTA  int32  `json:"cta"`
	Warp int32  `json:"warp"`
	Mask uint32 `json:"mask"`
}

// Summary returns what the run showed.
func (r *Run) Summary() Summary {
	s := Summary{Over: r.over, Charges: sorted(r.parts), Equal: r.order.EqualStores(), Words: make([]Word, len(r.list)), Visits: make([]Visit, len(r.visits))}
	for i, w := range r.list {
		s.Words[i] = Word{Kind: uint8(w.key.kind), Mem: int32(w.key.mem), Addr: w.key.addr, Open: w.open(), Placed: w.placed, Parted: w.parted, PCs: sorted(w.pcs), Several: sorted(w.several)}
		for _, v := range w.visits {
			to := &s.Visits[v.id]
			*to = Visit{Word: int32(i), Lanes: Lanes{v.cta, v.warp, v.lanes}, Loose: v.loose, Inside: v.inside}
			for k, from := range v.from {
				for ; from != 0; from &= from - 1 {
					to.From = append(to.From, int32(64*k+bits.TrailingZeros64(from)))
				}
			}
		}
	}
	return s
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

// Add joins what other runs showed. The result does not depend on the order in which
// summaries are joined.
func (s *Summary) Add(o Summary) {
	s.Over = s.Over || o.Over
	s.Charges, s.Equal = sorted(append(s.Charges, o.Charges...)), sorted(append(s.Equal, o.Equal...))
	if len(o.Words) == 0 {
		return
	}
	var words []Word
	number := map[key]int32{}
	for _, list := range [][]Word{s.Words, o.Words} {
		for i := range list {
			k := list[i].key()
			n, there := number[k]
			if !there {
				n = int32(len(words))
				number[k] = n
				words = append(words, Word{Kind: uint8(k.kind), Mem: int32(k.mem), Addr: k.addr})
			}
			words[n].join(&list[i])
		}
	}
	type guest struct {
		word      int32
		cta, warp int32
	}
	var visits []Visit
	of := map[guest]int32{}
	for _, from := range []*Summary{s, &o} {
		to := make([]int32, len(from.Visits))
		for i := range from.Visits {
			v := &from.Visits[i]
			g := guest{number[from.Words[v.Word].key()], v.CTA, v.Warp}
			n, there := of[g]
			if !there {
				n = int32(len(visits))
				of[g] = n
				visits = append(visits, Visit{Word: g.word, Lanes: Lanes{CTA: g.cta, Warp: g.warp}})
			}
			to[i] = n
		}
		for i := range from.Visits {
			visits[to[i]].join(&from.Visits[i], to)
		}
	}
	s.Words, s.Visits = words, visits
	s.settle()
}

// join adds what another run showed of the word.
func (w *Word) join(o *Word) {
	w.Open, w.Placed, w.Parted = w.Open || o.Open, w.Placed || o.Placed, w.Parted || o.Parted
	w.PCs, w.Several = sorted(append(w.PCs, o.PCs...)), sorted(append(w.Several, o.Several...))
}

// join adds what another run showed of the visit; number maps its visit numbers to
// ours.
func (v *Visit) join(o *Visit, number []int32) {
	v.Mask |= o.Mask
	v.Loose, v.Inside = v.Loose || o.Loose, v.Inside || o.Inside
	for _, f := range o.From {
		v.From = append(v.From, number[f])
	}
	v.From = sorted(v.From)
}

// settle sorts words and visits and renumbers their references.
func (s *Summary) settle() {
	byWord := make([]int32, len(s.Words))
	for i := range byWord {
		byWord[i] = int32(i)
	}
	slices.SortFunc(byWord, func(a, b int32) int { return s.Words[a].key().compare(s.Words[b].key()) })
	words, word := make([]Word, len(byWord)), make([]int32, len(byWord))
	for i, w := range byWord {
		words[i], word[w] = s.Words[w], int32(i)
	}
	byVisit := make([]int32, len(s.Visits))
	for i := range byVisit {
		byVisit[i] = int32(i)
		s.Visits[i].Word = word[s.Visits[i].Word]
	}
	slices.SortFunc(byVisit, func(a, b int32) int {
		x, y := &s.Visits[a], &s.Visits[b]
		return cmp.Or(cmp.Compare(x.Word, y.Word), compareWarps(x.Lanes, y.Lanes))
	})
	visits, visit := make([]Visit, len(byVisit)), make([]int32, len(byVisit))
	for i, v := range byVisit {
		visits[i], visit[v] = s.Visits[v], int32(i)
	}
	for i := range visits {
		for k, f := range visits[i].From {
			visits[i].From[k] = visit[f]
		}
		slices.Sort(visits[i].From)
	}
	s.Words, s.Visits = words, visits
}

// Beyond returns the instructions at words that lie on a cycle of the word graph, or
// are placed by control alone: executions that are no interleaving may exist. If
// there are none, and not Over, every execution is an interleaving.
func (s *Summary) Beyond() []int32 {
	cycles := s.cycles()
	var pcs []int32
	for i := range s.Words {
		w := &s.Words[i]
		if w.Placed || cycles[i] {
			pcs = append(pcs, w.PCs...)
		}
	}
	return sorted(pcs)
}

// cycles marks the words on a cycle of the word graph: edges lead from a loose visit
// to another loose one of the same word, by way of loose visits of a second word.
func (s *Summary) cycles() []bool {
	loose := make([][]int32, len(s.Words))
	for i := range s.Visits {
		if v := &s.Visits[i]; v.Loose {
			loose[v.Word] = append(loose[v.Word], int32(i))
		}
	}
	on := make([]bool, len(s.Words))
	seen := make([]int32, 2*len(s.Visits)) // by visit, without and with a second word: the search that came there
	search := int32(0)
	var todo []int32
	for w := range s.Words {
		for _, end := range loose[w] {
			search++
			todo = append(todo[:0], 2*end)
			push := func(at int32) {
				if seen[at] != search {
					seen[at] = search
					todo = append(todo, at)
				}
			}
			for len(todo) > 0 && !on[w] {
				at, second := todo[len(todo)-1]/2, todo[len(todo)-1]%2
				todo = todo[:len(todo)-1]
				v := &s.Visits[at]
				for _, f := range v.From {
					from := &s.Visits[f]
					if second == 1 && from.Word == int32(w) && from.Loose && (f != end || from.Inside) {
						on[w] = true
					}
					push(2*f + second)
				}
				if v.Word == int32(w) || !v.Loose {
					continue
				}
				for _, o := range loose[v.Word] {
					if o != at || v.Inside {
						push(2*o + 1)
					}
				}
			}
		}
	}
	return on
}

// apart reports whether the order in which lanes of one warp access a word may show.
func (w *Word) apart() bool { return (w.Open || w.Parted) && w.Kind == uint8(memory) }

// lanes returns the lanes that access words at which their order may show.
func (s *Summary) lanes() []Lanes {
	var lanes []Lanes
	for i := range s.Visits {
		if v := &s.Visits[i]; s.Words[v.Word].apart() {
			lanes = addLanes(lanes, v.Lanes)
		}
	}
	return lanes
}

// Apart reports whether several lanes of one warp access words at which their order
// may show. Lanes that diverge must then not wait for reconvergence where they need
// not.
func (s *Summary) Apart() bool { return slices.ContainsFunc(s.lanes(), Lanes.several) }

// Parts returns the instructions whose lanes have to execute one by one, so that
// interleavings of warps include every interleaving of threads: those at words that are
// open, or where a thread may see part of a step, in warps with several lanes that
// access these words.
func (s *Summary) Parts() []int32 {
	lanes := s.lanes()
	several := func(l Lanes) bool {
		k, found := slices.BinarySearchFunc(lanes, l, compareWarps)
		return found && lanes[k].several()
	}
	pcs := slices.Clone(s.Charges)
	for i := range s.Visits {
		v := &s.Visits[i]
		if w := &s.Words[v.Word]; w.apart() && several(v.Lanes) {
			pcs = append(pcs, w.Several...)
		}
	}
	return sorted(pcs)
}
