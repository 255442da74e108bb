package capture

import (
	"slices"
)

// A launch that depends on the one directly before it in its stream (programmatic stream
// serialization) may begin before that has ended: the two are captured as one sequence, as a
// graph of them would be, with up to maxChain launches that depend on each other.

const maxChain = 4

// dependent reports whether a launch may begin before the one before it in its stream has ended.
func (r *recorded) dependent() bool {
	return slices.ContainsFunc(r.Attributes, func(a [4]uint32) bool { return a[0] == attrDependent && a[1] != 0 })
}

// chain returns a launch with those that it may begin before the end of; nil if there are none,
// or if not all of them are known.
func (p *process) chain(l *recorded) *recorded {
	list := []*recorded{l}
	for first := l; first.dependent() && len(list) < maxChain; {
		if first.Follows == nil || *first.Follows < 0 {
			break
		}
		k := slices.IndexFunc(p.list, func(o *recorded) bool { return *o.Launch == *first.Follows })
		if k < 0 || p.list[k].Nodes != nil {
			break
		}
		first = p.list[k]
		list = append(list, first)
	}
	if len(list) == 1 {
		return nil
	}
	slices.Reverse(list)
	again := slices.ContainsFunc(list, func(o *recorded) bool { return o != list[0] && o.Again })
	all := *l
	all.Attributes, all.Buffers, all.Nodes = nil, nil, nil
	for i, o := range list {
		if o.Early || o.after == nil || !o.after.Ended || o.Context != l.Context {
			return nil
		}
		n := node{Type: nodeKernel, Kernel: o.Kernel, Module: o.Module(), Grid: o.Grid, Block: o.Block, Shared: o.Shared, Registers: o.Registers, Params: o.Params, Args: o.Args}
		for _, a := range o.Attributes {
			if a[0] != attrDependent {
				n.Attributes = append(n.Attributes, a)
			}
		}
		if i > 0 {
			n.After = [][2]int{{i - 1, 1}}
		}
		all.Nodes = append(all.Nodes, n)
		if !all.join(o.Buffers) {
			return nil
		}
	}
	if again {
		// What memory held before the first of them is not known: it is as the last one found it.
		all.again = true
		all.Buffers = nil
		if !all.join(l.Buffers) {
			return nil
		}
		for _, o := range list {
			for _, b := range o.Buffers {
				if !slices.ContainsFunc(all.Buffers, func(x buffer) bool { return x.Base == b.Base }) {
					all.Buffers = append(all.Buffers, b)
				}
			}
		}
	}
	return &all
}

// join adds the buffers of a later launch. What a buffer held before is known from the first
// launch that has it, and what it holds after from the last one. It reports whether the
// buffers are those of before, or others.
func (r *recorded) join(list []buffer) bool {
	for _, b := range list {
		b.after = afterOf(b.File)
		k := slices.IndexFunc(r.Buffers, func(o buffer) bool { return b.Base < o.Base+address(o.Size) && o.Base < b.Base+address(b.Size) })
		switch {
		case k < 0:
			r.Buffers = append(r.Buffers, b)
		case r.Buffers[k].Base != b.Base || r.Buffers[k].Size != b.Size || r.Buffers[k].Variable != b.Variable:
			return false
		default:
			r.Buffers[k].after = b.after
		}
	}
	return true
}
