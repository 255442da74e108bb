package launch

import "slices"

// A Variable is what a .global or .const variable of the module holds when the kernel starts,
// as cudaMemcpyToSymbol leaves it: its first bytes. The others keep their initializer, or are
// zeros. With a base it lies at that address, so that pointers to it which memory or arguments
// hold are right.
type Variable struct {
	// Array has its name and contents. Without a shape a fill covers the whole variable.
	Array Buffer
	// Parts, if there are any, are the contents instead: those of a struct, as of an argument.
	Parts []Arg
}

func (d *decoder) variables(n *Node) ([]Variable, error) {
	if n.Kind != MapNode {
		return nil, d.errorf(n, "variables is a mapping from names, not %s", n.Kind)
	}
	var list []Variable
	for _, e := range n.Entries {
		v, err := d.variable(e)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

func (d *decoder) variable(e Entry) (Variable, error) {
	v := Variable{Array: Buffer{Name: e.Key, Pos: at(d.file, e.Pos)}}
	if n := e.Value; n.Kind == MapNode && slices.ContainsFunc(n.Entries, func(e Entry) bool { return e.Key == "struct" }) {
		return v, d.fields(n, "a variable", []field{
			{"struct", true, func(n *Node) error {
				a, err := d.structArg(n)
				v.Parts = a.Parts
				return err
			}},
			d.baseField(&v.Array),
		})
	}
	var fill, values *Node
	if err := d.fields(e.Value, "a variable", append(d.contentFields(&v.Array, &fill, &values), d.baseField(&v.Array))); err != nil {
		return v, err
	}
	if fill != nil && values != nil {
		return v, d.errorf(values, "variable %q has both fill and values", e.Key)
	}
	return v, d.contents(&v.Array, fill, values)
}

// checkVariables checks what a program that builds a File can get wrong, too.
func (f *File) checkVariables() error {
	names := make(map[string]Pos)
	for i := range f.Variables {
		v, b := &f.Variables[i], &f.Variables[i].Array
		if first, ok := names[b.Name]; ok {
			return errorf(b.Pos, "variable %q has contents already, at %s", b.Name, first)
		}
		names[b.Name] = b.Pos
		for k := range v.Parts {
			if err := v.Parts[k].validate(); err != nil {
				return err
			}
		}
		switch {
		case len(v.Parts) == 0 && b.Fill.Kind == FillUninitialized:
			return errorf(b.Pos, "variable %q needs a fill, values or a struct", b.Name)
		case b.Align != 0:
			return errorf(b.Pos, "variable %q is aligned as the module says", b.Name)
		case b.Fixed && (b.Base < MinAddress || b.Base >= MaxAddress):
			return errorf(b.basePos, "variable %q at %#x does not lie between %#x and %#x", b.Name, b.Base, uint64(MinAddress), uint64(MaxAddress))
		}
		if len(v.Parts) > 0 {
			continue
		}
		if err := checkGiven(b); err != nil {
			return err
		}
	}
	return nil
}

func (v *Variable) eachReference(check func(Pos, string) error) error {
	for _, value := range v.Array.Values {
		if err := eachReference(value, check); err != nil {
			return err
		}
	}
	return Arg{Parts: v.Parts}.eachReference(check)
}

// Contents returns the bytes that a variable of size bytes begins with, and the tensor maps
// among them. Its limit is like that of Layout.
func (l *Layout) Contents(v *Variable, size uint64, limit int64) (*ParamBlock, error) {
	if limit <= 0 {
		limit = DefaultMemoryLimit
	}
	b := v.Array
	tooLong := func(n uint64) error {
		return errorf(b.Pos, "variable %q has %d bytes, and its contents %d", b.Name, size, n)
	}
	if len(v.Parts) > 0 {
		block := &ParamBlock{Bytes: make([]byte, min(size, MaxParams))}
		e := encoder{layout: l, block: block, room: len(block.Bytes)}
		if err := e.parts(Arg{Parts: v.Parts}); err != nil {
			return nil, err
		}
		if uint64(e.off) > size {
			return nil, tooLong(uint64(e.off))
		}
		if e.off > len(block.Bytes) {
			return nil, errorf(b.Pos, "a struct has at most %d bytes", MaxParams)
		}
		block.Bytes = block.Bytes[:e.off]
		return block, nil
	}
	if b.Shape == nil && b.Fill.Kind != FillFile {
		b.Shape = []int64{int64(size) / int64(b.Type.Size())}
	}
	p := PlacedBuffer{Name: b.Name, Pos: b.Pos, Type: b.Type, Shape: b.Shape}
	if err := measure(&b, &p); err != nil {
		return nil, err
	}
	switch {
	case p.Size > size:
		return nil, tooLong(p.Size)
	case p.Size > uint64(limit):
		return nil, errorf(p.Pos, "variable %q takes %s; the memory limit leaves %s", p.Name, formatSize(p.Size), formatSize(uint64(limit)))
	}
	if err := l.fill(&b, &p); err != nil {
		return nil, err
	}
	return &ParamBlock{Bytes: p.Data, Maps: p.Maps}, nil
}

// UnknownVariable is the error for contents of a variable that the module does not have; have
// are the names of those that it has.
func (v *Variable) UnknownVariable(have []string) error {
	return errorf(v.Array.Pos, "the module has no .global or .const variable called %s%s", quote(v.Array.Name), suggest(v.Array.Name, have))
}

func (w *writer) variable(v *Variable) string {
	if len(v.Parts) > 0 {
		return fields("struct", w.parts(v.Parts), "base", base(&v.Array))
	}
	return w.buffer(&v.Array)
}
