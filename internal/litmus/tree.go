package litmus

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var treeToken = regexp.MustCompile(`^(?:\(|\)|,|[A-Za-z_]+\d*|\d+)`)

// levels of a tree of scopes, as herd and others name them.
var levels = map[string]string{"system": "sys", "device": "gpu", "gpu": "gpu", "grid": "grid", "kernel": "grid", "cluster": "cluster", "cta": "cta", "block": "cta", "warp": "warp"}

// tree reads scopeTree (grid (cta (warp P0) (warp P1)) (cta (warp P2))), and returns where it
// ends. The threads of a warp have no order by that (ISA 8.5: a warp is no scope).
func (r *reader) tree(at int) int {
	seen := make([]bool, len(r.t.Threads))
	at = r.space(at)
	if at >= len(r.src) || r.src[at] != '(' {
		r.fail(at, "a tree of scopes is written (grid (cta (warp P0) (warp P1)))")
	}
	start := at
	count := map[string]int{"gpu": -1, "cluster": -1, "cta": -1}
	var path []string
	within := func(level string) bool {
		for _, p := range path {
			if p == level {
				return true
			}
		}
		return false
	}
	for {
		at = r.space(at)
		if at >= len(r.src) {
			r.fail(start, "a tree of scopes that stays open")
		}
		m := treeToken.FindString(r.src[at:])
		switch {
		case m == "":
			r.fail(at, "%q in a tree of scopes", brief(firstLine(r.src[at:])))
		case m == ",":
		case m == "(":
			at++
			at = r.space(at)
			name := strings.ToLower(treeToken.FindString(r.src[min(at, len(r.src)):]))
			level, ok := levels[name]
			if !ok {
				r.fail(at, "%q is no level of a tree of scopes: device, grid, cluster, cta and warp are", brief(name))
			}
			if len(path) > maxDepth {
				r.fail(at, "more than %d levels", maxDepth)
			}
			if level != "grid" && within(level) {
				r.fail(at, "a %s within a %s", name, name)
			}
			count[level]++
			path = append(path, level)
			at += len(name)
			continue
		case m == ")":
			if path = path[:len(path)-1]; len(path) == 0 {
				r.placed(start, seen)
				return at + 1
			}
		default:
			k, ok := number(strings.TrimLeft(m, "PTpt"))
			if !ok || k >= uint32(len(seen)) || seen[k] {
				r.fail(at, "%q is no thread of the test, or stands twice", brief(m))
			}
			seen[k] = true
			h := &r.t.Threads[k]
			if !within("cta") {
				r.fail(at, "%s stands in no cta", m)
			}
			h.CTA, h.GPU, h.Cluster = count["cta"], max(count["gpu"], 0), -1
			if within("cluster") {
				h.Cluster = count["cluster"]
			}
		}
		at += len(m)
	}
}

// placed ends a tree.
func (r *reader) placed(at int, seen []bool) {
	for k, ok := range seen {
		if !ok {
			r.fail(at, "P%d does not stand in the tree of scopes", k)
		}
	}
	if !r.herd {
		r.fail(at, "the threads have their places already")
	}
	r.herd = false
	r.number()
}

// finish checks the test as a whole, and completes it.
func (r *reader) finish() {
	t := r.t
	if r.herd && len(t.Threads) > 1 {
		t.Notes = append(t.Notes, "no places are given: each thread is in a CTA of its own")
	}
	for k := range t.Threads {
		h := &t.Threads[k]
		if r.shared >= 0 && h.CTA != t.Threads[0].CTA {
			r.need(r.shared, "global memory: of shared memory each CTA has its own")
		}
		h.Regs = make([]string, len(r.regs[k]))
		for name, n := range r.regs[k] {
			h.Regs[n] = name
		}
	}
	for _, in := range r.inits {
		v := in.value
		if in.of != "" {
			v = uint32(t.where[in.of].addr)
		}
		if v != 0 {
			t.Threads[in.thread].Init[in.reg] = v
		}
	}
	r.barriers()
}

// barriers gives the barriers numbers. Threads of a CTA meet at one by its instance and number.
func (r *reader) barriers() {
	t := r.t
	find := func(cta int, in *Instr) int {
		for i := range t.Barriers {
			if b := &t.Barriers[i]; b.CTA == cta && b.Instance == in.instance && b.ID == in.id {
				return i
			}
		}
		t.Barriers = append(t.Barriers, Barrier{CTA: cta, Instance: in.instance, ID: in.id})
		return len(t.Barriers) - 1
	}
	open := map[[2]int]bool{}
	for k := range t.Threads {
		h := &t.Threads[k]
		named := map[int]bool{}
		for i := range h.Code {
			in := &h.Code[i]
			if in.Kind != Meet {
				continue
			}
			if v, ok := h.fixed(i); ok {
				in.id, in.Src = int(v), []Value{{Const: v}}
			}
			if len(in.Src) > 0 && in.Src[0].Reg > 0 {
				open[[2]int{h.CTA, in.instance}] = true
				continue
			}
			in.Barrier = find(h.CTA, in)
			b := &t.Barriers[in.Barrier]
			if !named[in.Barrier] {
				named[in.Barrier] = true
				b.Members++
			}
			if in.most >= 0 {
				if b.Quorum > 0 && b.Quorum != in.most {
					panic(&Error{t.File, in.Line, in.Col, fmt.Sprintf("%q: another instruction has this barrier open after %d threads", brief(in.Text), b.Quorum)})
				}
				b.Quorum = in.most
			}
		}
	}
	for i := range t.Barriers {
		b := &t.Barriers[i]
		b.Open = open[[2]int{b.CTA, b.Instance}]
		if b.Quorum == 0 && !b.Open {
			b.Quorum = b.Members
		}
	}
}

// fixed returns the number of a barrier that instruction i has in a register which holds the
// same value there in every run: its initial one, or what one instruction before gives it.
func (h *Thread) fixed(i int) (uint32, bool) {
	if len(h.Code[i].Src) == 0 || h.Code[i].Src[0].Reg == 0 || h.Code[i].Src[0].Const != 0 {
		return 0, false
	}
	reg := h.Code[i].Src[0].Reg - 1
	v, writers := h.Init[reg], 0
	for k := range h.Code {
		in := &h.Code[k]
		if in.Kind == Jump {
			return 0, false
		}
		if !slices.Contains(in.Dst, reg) {
			continue
		}
		if writers++; writers > 1 || k > i || in.Kind != Move || in.Op != Add || in.Src[0].Reg > 0 || in.Src[1].Reg > 0 {
			return 0, false
		}
		v = in.Src[0].Const + in.Src[1].Const
	}
	return v, v <= 1000
}
