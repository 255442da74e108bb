package launch

import (
	"slices"
	"strings"
	"unicode"
)

// Several launches in one file: the key `launches` is a list of them, in the order in which a
// program makes them, in place of the keys of one launch. An entry has the keys of a launch
// and those below, or is a `fill` (cudaMemsetAsync) or a `copy` (cudaMemcpyAsync, on the
// device). All work on the file's buffers.
//
//   - name: for `after`, and in findings; the kernel's name without it.
//   - stream: the entry comes after the one before it in the stream of that name. An entry
//     with neither `stream` nor `after` is in the stream without a name.
//   - after: names of entries before it that it comes after: a wait for an event, or an edge
//     of a graph. With `after` and without `stream` it comes after nothing else. A name may be
//     {name: a, programmatic: true}, for a programmatic edge among others; not beside stream.
//   - dependent: true for a programmatic dependent launch: it may begin before what it comes
//     after has completed (cudaLaunchAttributeProgrammaticStreamSerialization, or a
//     programmatic edge of a graph). What it comes after by `after` beside `stream`, a fill or
//     a copy has completed all the same, as on an H200.

// A Builtin is an entry that is no kernel of the user's.
type Builtin uint8

const (
	NoBuiltin Builtin = iota
	// BuiltinFill sets bytes to one value: arguments are the address, the value as u8, and the
	// number of bytes as u64.
	BuiltinFill
	// BuiltinCopy copies bytes: arguments are the address to copy to, that to copy from, and the
	// number of bytes as u64.
	BuiltinCopy
)

func (b Builtin) String() string { return [...]string{"launch", "fill", "copy"}[b] }

// A Prerequisite is a launch that another comes after.
type Prerequisite struct {
	Launch       int // its index in the file
	Programmatic bool
}

// MaxLaunches bounds the launches of a file.
const MaxLaunches = 4096

// launches reads the list of launches.
func (d *decoder) launches(n *Node) ([]Launch, error) {
	if n.Kind != SeqNode {
		return nil, d.errorf(n, "launches is a list, not %s", n.Kind)
	}
	if len(n.Items) == 0 || len(n.Items) > MaxLaunches {
		return nil, d.errorf(n, "launches has %d entries; it must have from 1 to %d", len(n.Items), MaxLaunches)
	}
	var list []Launch
	for _, item := range n.Items {
		l := Launch{Pos: d.pos(item)}
		if err := d.entry(item, &l); err != nil {
			return nil, err
		}
		list = append(list, l)
	}
	return list, nil
}

// entry reads one of several launches.
func (d *decoder) entry(n *Node, l *Launch) error {
	order := []field{
		{"name", false, func(n *Node) (err error) { l.Name, err = d.entryName(n); return }},
		{"stream", false, func(n *Node) (err error) { l.Stream, err = d.str(n, "stream"); return }},
		{"after", false, func(n *Node) (err error) { l.After, err = d.after(n); return }},
	}
	table := append(order, field{"dependent", false, func(n *Node) (err error) { l.Dependent, err = d.boolean(n, "dependent"); return }})
	table = append(table, d.launchFields(l)...)
	if n.Kind == MapNode {
		for _, e := range n.Entries {
			switch e.Key {
			case "fill":
				table = append(order, field{"fill", true, func(n *Node) error { return d.fillEntry(n, l) }})
			case "copy":
				table = append(order, field{"copy", true, func(n *Node) error { return d.copyEntry(n, l) }})
			}
		}
	}
	return d.fields(n, "a launch", table)
}

// entryName reads the name of a launch, which reports have in the middle of a line.
func (d *decoder) entryName(n *Node) (string, error) {
	name, err := d.str(n, "name")
	if err == nil && strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return "", d.errorf(n, "bad name %s: characters of one line, all printable", quote(name))
	}
	return name, err
}

func (d *decoder) after(n *Node) ([]After, error) {
	if n.Kind != SeqNode {
		return nil, d.errorf(n, "after is a list of names, not %s", describe(n))
	}
	list := []After{}
	for _, item := range n.Items {
		a := After{Pos: d.pos(item)}
		var err error
		if item.Kind == MapNode {
			err = d.fields(item, "an edge", []field{
				{"name", true, func(n *Node) (err error) { a.Name, err = d.str(n, "name"); return }},
				{"programmatic", false, func(n *Node) (err error) { a.Programmatic, err = d.boolean(n, "programmatic"); return }},
			})
		} else {
			a.Name, err = d.str(item, "a name of after")
		}
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, nil
}

// An After names a launch that another comes after.
type After struct {
	Pos  Pos
	Name string
	// Programmatic: this edge alone is, as by `dependent` all are.
	Programmatic bool
}

const fillThreads = 1024

func (d *decoder) fillEntry(n *Node, l *Launch) error {
	var to Arg
	value, bytes := int64(0), int64(0)
	err := d.fields(n, "a fill", []field{
		{"to", true, func(n *Node) (err error) { to, err = d.address(n, "to"); return }},
		{"value", false, func(n *Node) (err error) { value, err = d.integer(n, "value", 0, 255); return }},
		{"bytes", true, func(n *Node) (err error) { bytes, err = d.integer(n, "bytes", 1, 1<<40); return }},
	})
	l.builtin(BuiltinFill, to, Arg{Kind: ArgScalar, Type: U8, Bits: uint64(value)}, Arg{Kind: ArgScalar, Type: U64, Bits: uint64(bytes)})
	return err
}

func (d *decoder) copyEntry(n *Node, l *Launch) error {
	var to, from Arg
	bytes := int64(0)
	err := d.fields(n, "a copy", []field{
		{"to", true, func(n *Node) (err error) { to, err = d.address(n, "to"); return }},
		{"from", true, func(n *Node) (err error) { from, err = d.address(n, "from"); return }},
		{"bytes", true, func(n *Node) (err error) { bytes, err = d.integer(n, "bytes", 1, 1<<40); return }},
	})
	if err == nil && to.Ptr.Buffer == from.Ptr.Buffer && to.Ptr.Offset < from.Ptr.Offset+bytes && from.Ptr.Offset < to.Ptr.Offset+bytes {
		return d.errorf(n, "the %d bytes that are copied overlap those that they are copied to", bytes)
	}
	l.builtin(BuiltinCopy, to, from, Arg{Kind: ArgScalar, Type: U64, Bits: uint64(bytes)})
	return err
}

// builtin makes l a fill or a copy.
func (l *Launch) builtin(b Builtin, args ...Arg) {
	l.Builtin, l.Kernel, l.Args = b, b.String(), args
	l.Grid, l.Block = [3]uint32{1, 1, 1}, [3]uint32{fillThreads, 1, 1}
}

// SetFill makes l a fill of bytes, from an address on, with a value.
func (l *Launch) SetFill(to Pointer, value uint8, bytes uint64) {
	l.builtin(BuiltinFill, Arg{Kind: ArgPointer, Ptr: &to}, Arg{Kind: ArgScalar, Type: U8, Bits: uint64(value)}, Arg{Kind: ArgScalar, Type: U64, Bits: bytes})
}

// SetCopy makes l a copy of bytes.
func (l *Launch) SetCopy(to, from Pointer, bytes uint64) {
	l.builtin(BuiltinCopy, Arg{Kind: ArgPointer, Ptr: &to}, Arg{Kind: ArgPointer, Ptr: &from}, Arg{Kind: ArgScalar, Type: U64, Bits: bytes})
}

// address reads an address in a buffer.
func (d *decoder) address(n *Node, what string) (Arg, error) {
	a, err := d.topArg(n)
	if err == nil && a.Kind != ArgPointer {
		err = d.errorf(n, "%s is an address in a buffer, as out or {ptr: out, offset: 256}, not %s", what, a)
	}
	return a, err
}

// Order returns, for each launch, those that it comes after. The file is valid.
func (f *File) Order() [][]Prerequisite {
	order := make([][]Prerequisite, len(f.Launches))
	last := map[string]int{}
	names := map[string]int{}
	for i := range f.Launches {
		l := &f.Launches[i]
		add := func(before int, programmatic bool) {
			programmatic = programmatic && l.Builtin == NoBuiltin && f.Launches[before].Builtin == NoBuiltin
			k := slices.IndexFunc(order[i], func(p Prerequisite) bool { return p.Launch == before })
			if k < 0 {
				order[i] = append(order[i], Prerequisite{before, programmatic})
			} else if !programmatic {
				order[i][k].Programmatic = false
			}
		}
		inStream := l.Stream != "" || l.After == nil
		if before, ok := last[l.Stream]; ok && inStream {
			// A wait for an event, too, stands in the stream between the two.
			add(before, l.Dependent && len(l.After) == 0)
		}
		for _, a := range l.After {
			add(names[a.Name], (l.Dependent || a.Programmatic) && !inStream)
		}
		if inStream {
			last[l.Stream] = i
		}
		names[l.Called()] = i
	}
	return order
}

// Called returns the launch's name: its kernel's if it has none.
func (l *Launch) Called() string {
	if l.Name != "" {
		return l.Name
	}
	return l.Kernel
}

// checkOrder checks the names of several launches.
func (f *File) checkOrder() error {
	seen, fills := map[string]Pos{}, map[string]bool{}
	var names []string
	for i := range f.Launches {
		l := &f.Launches[i]
		for _, a := range l.After {
			switch p, ok := seen[a.Name]; {
			case !ok:
				return errorf(a.Pos, "no launch before this one is called %s%s", quote(a.Name), suggest(a.Name, names))
			case p == Pos{}:
				return errorf(a.Pos, "several launches are called %s; give each a name", quote(a.Name))
			}
			if a.Programmatic && (l.Builtin != NoBuiltin || fills[a.Name]) {
				return errorf(a.Pos, "an edge between a kernel and a fill or a copy is not programmatic")
			}
			if a.Programmatic && l.Stream != "" {
				return errorf(a.Pos, "an edge beside `stream` is a wait for an event, and not programmatic: leave `stream` out, or write `dependent` without `after`")
			}
		}
		name := l.Called()
		if name == "" {
			continue
		}
		if _, twice := seen[name]; twice {
			if l.Name != "" {
				return errorf(l.Pos, "the name %s is taken", quote(name))
			}
			seen[name] = Pos{}
			continue
		}
		seen[name], fills[name] = l.Pos, l.Builtin != NoBuiltin
		names = append(names, name)
	}
	return nil
}

// Stages divides the launches into runs of consecutive ones: those of a stage may overlap,
// and begin when all of the stages before have completed. It returns the index behind the
// last launch of each.
func (f *File) Stages() []int {
	order := f.Order()
	before := make([]map[int]bool, len(order)) // complete when it begins
	awaited := make([]map[int]bool, len(order))
	for i, list := range order {
		before[i], awaited[i] = map[int]bool{}, map[int]bool{}
		for _, p := range list {
			awaited[i][p.Launch] = true
			for k := range awaited[p.Launch] {
				awaited[i][k] = true
			}
			from := before[p.Launch]
			if !p.Programmatic {
				before[i][p.Launch], from = true, awaited[p.Launch]
			}
			for k := range from {
				before[i][k] = true
			}
		}
	}
	var ends []int
	first := 0
	for end := 1; end <= len(order); end++ {
		cut := true
		for i := end; i < len(order) && cut; i++ {
			for k := first; k < end && cut; k++ {
				cut = before[i][k]
			}
		}
		if cut {
			ends, first = append(ends, end), end
		}
	}
	return ends
}
