package launch

import (
	"slices"
	"strings"
)

// Flags are the keys of a launch file given on a command line, to run a bare .ptx without
// a file, or to replace a file's keys. An empty string or list keeps the file's key.
// Paths are relative to the working directory.
//
// Short forms:
//
//	--grid 2x1x1   --block 128   --cluster 2   --shared 1024   --registers 168   --maxrregcount 168   --cooperative true
//	--buffer in=f32[16384]:iota          also zeros, ones, nan, uninitialized,
//	                                     mod=97, random=SEED,LOW,HIGH, file=a.npy
//	--variable coeff=f32[64]:iota        as --buffer; without a shape all of the variable
//	--arg in   --arg out+256   --arg s32:64   --arg null   --arg bytes:param.bin
//	--expect out=out.npy                 then ,type=f16 and ,atol=1e-3,rtol=1e-2 or ,ulp=2
//	--accept 'proxy-war@gemm.cu:118=reason'
//
// A form without a short notation is written as JSON:
//
//	--buffer 'ptrs={"type": "u64", "values": [{"ptr": "in"}]}'
//	--variable '{"config": {"struct": [{"ptr": "in"}, {"s32": 3}]}}'
//	--arg '{"tensormap": {"of": "in", "box": [128]}}'
//	--expect 'out={"file": "out.npy", "ulp": 2}'
//	--accept '{"finding": "proxy-war", "at": "gemm.cu:118", "reason": "…"}'
type Flags struct {
	PTX, Kernel          string
	Link                 []string // added
	Grid, Block, Cluster string
	PreferredCluster     string
	Shared, Registers    string
	MaxRegCount          string
	Cooperative          string // "true" or "false"
	CoResident           string
	Buffers              []string // added, or replacing the one of the same name
	Variables            []string // added, or replacing the one of the same name
	Args                 []string // replacing all
	Expect               []string // added, or replacing the same buffer's
	Accept               []string // added
	Assume               []string // added
}

// FromFlags builds a File from flags only.
func FromFlags(fl Flags) (*File, error) {
	f := &File{Version: 1, Launches: []Launch{{byFlags: true}}}
	if err := fl.Apply(f); err != nil {
		return nil, err
	}
	return f, nil
}

// Apply sets in f what the flags state, and validates the result. After an error, f is
// invalid.
func (fl Flags) Apply(f *File) error {
	if flag := fl.ofOne(); flag != "" && len(f.Launches) > 1 {
		return &Error{Pos: Pos{File: f.Name}, Msg: flag + " is of one launch, and the file has several"}
	}
	l := &f.Launches[0]
	if fl.PTX != "" {
		l.PTX, l.Link = fl.PTX, nil
	}
	l.Link = append(slices.Clone(l.Link), fl.Link...)
	if fl.Kernel != "" {
		l.Kernel, l.kernelPos = fl.Kernel, Pos{File: "--kernel " + shorten(fl.Kernel)}
	}
	if err := fl.applyShape(l); err != nil {
		return err
	}
	if err := fl.applyLists(f, l); err != nil {
		return err
	}
	f.fill(&fl)
	var missing []string
	if l.Grid[0] == 0 {
		missing = append(missing, "--grid")
	}
	if l.Block[0] == 0 {
		missing = append(missing, "--block")
	}
	if len(missing) > 0 {
		return &Error{Msg: "a launch without a file needs " + strings.Join(missing, " and ")}
	}
	return f.Validate()
}

// ofOne names a given flag that concerns a single launch, empty if there is none.
func (fl Flags) ofOne() string {
	for _, x := range []struct {
		flag  string
		given bool
	}{
		{"--ptx", fl.PTX != ""}, {"--link", len(fl.Link) > 0}, {"--kernel", fl.Kernel != ""}, {"--grid", fl.Grid != ""}, {"--block", fl.Block != ""},
		{"--cluster", fl.Cluster != ""}, {"--preferred-cluster", fl.PreferredCluster != ""}, {"--shared", fl.Shared != ""}, {"--registers", fl.Registers != ""}, {"--maxrregcount", fl.MaxRegCount != ""},
		{"--cooperative", fl.Cooperative != ""}, {"--co-resident", fl.CoResident != ""}, {"--arg", len(fl.Args) > 0},
	} {
		if x.given {
			return x.flag
		}
	}
	return ""
}

func (fl Flags) applyShape(l *Launch) error {
	for _, dim := range []struct {
		flag, text string
		parse      func(*decoder, *Node) ([3]uint32, error)
		to         *[3]uint32
		pos        *Pos
	}{
		{"--grid", fl.Grid, (*decoder).grid, &l.Grid, &l.gridPos},
		{"--block", fl.Block, (*decoder).block, &l.Block, &l.blockPos},
		{"--cluster", fl.Cluster, (*decoder).cluster, &l.Cluster, &l.clusterPos},
		{"--preferred-cluster", fl.PreferredCluster, (*decoder).preferred, &l.Preferred, &l.preferredPos},
	} {
		if dim.text == "" {
			continue
		}
		d, n, err := flagDim(dim.flag, dim.text)
		if err != nil {
			return err
		}
		if *dim.to, err = dim.parse(d, n); err != nil {
			return err
		}
		*dim.pos = n.Pos
	}
	for _, num := range []struct {
		flag, text string
		lo, hi     int64
		to         *uint32
	}{
		{"--shared", fl.Shared, 0, MaxShared, &l.Shared},
		{"--registers", fl.Registers, 1, MaxRegisters, &l.Registers},
		{"--maxrregcount", fl.MaxRegCount, 1, MaxRegCount, &l.MaxRegCount},
		{"--co-resident", fl.CoResident, 1, MaxCoResident, &l.CoResident},
	} {
		if num.text == "" {
			continue
		}
		d := flagDecoder(num.flag, num.text)
		v, err := d.uint32(d.whole(num.text), num.flag[2:], num.lo, num.hi)
		if err != nil {
			return err
		}
		*num.to = v
	}
	switch fl.Cooperative {
	case "":
	case "true", "false":
		l.Cooperative = fl.Cooperative == "true"
	default:
		return flagDecoder("--cooperative", fl.Cooperative).flagError("want true or false")
	}
	return nil
}

func (fl Flags) applyLists(f *File, l *Launch) error {
	for _, text := range fl.Buffers {
		b, err := ParseBufferFlag(text)
		if err != nil {
			return err
		}
		f.Buffers = replace(f.Buffers, b, func(o Buffer) bool { return o.Name == b.Name })
	}
	for _, text := range fl.Variables {
		v, err := ParseVariableFlag(text)
		if err != nil {
			return err
		}
		f.Variables = replace(f.Variables, v, func(o Variable) bool { return o.Array.Name == v.Array.Name })
	}
	if len(fl.Args) > 0 {
		l.Args, l.argsPos, l.byFlags = nil, Pos{}, true
	}
	for _, text := range fl.Args {
		a, err := ParseArgFlag(text)
		if err != nil {
			return err
		}
		l.Args = append(l.Args, a)
	}
	for _, text := range fl.Expect {
		x, err := ParseExpectFlag(text)
		if err != nil {
			return err
		}
		f.Expect = replace(f.Expect, x, func(o Expect) bool { return o.Buffer == x.Buffer })
	}
	for _, text := range fl.Accept {
		a, err := ParseAcceptFlag(text)
		if err != nil {
			return err
		}
		f.Accept = append(f.Accept, a)
	}
	for _, name := range fl.Assume {
		if name != VectorAtomic {
			return flagDecoder("--assume", name).flagError("no assumption is called that; there is %s", VectorAtomic)
		}
		if !slices.Contains(f.Assume, name) {
			f.Assume = append(f.Assume, name)
		}
	}
	return nil
}

// replace puts v in the place of the first element that matches is, or at the end.
func replace[T any](list []T, v T, is func(T) bool) []T {
	for i := range list {
		if is(list[i]) {
			list[i] = v
			return list
		}
	}
	return append(list, v)
}

// flagDecoder reports errors as `--flag text: …`.
func flagDecoder(flag, text string) *decoder {
	return &decoder{file: flag + " " + shorten(text)}
}

func shorten(s string) string {
	const longest = 60
	s = strings.ToValidUTF8(strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, s), "?")
	if len(s) > longest {
		return s[:longest] + "…"
	}
	return s
}

func (d *decoder) node(k NodeKind, text string) *Node {
	return &Node{Kind: k, Pos: Pos{File: d.file}, Text: text}
}

func (d *decoder) flagError(format string, args ...any) error {
	return errorf(Pos{File: d.file}, format, args...)
}

// number guesses the JSON form of the text: a number, or a string.
func (d *decoder) number(text string) *Node {
	switch {
	case text == "" || isHex(text) || isSpecial(text):
		return d.node(StringNode, text)
	case strings.Trim(text, "+-0123456789") == "":
		return d.node(IntNode, text)
	case strings.Trim(text, "+-.eE0123456789") == "":
		return d.node(FloatNode, text)
	}
	return d.node(StringNode, text)
}

// whole is the node of a whole number, also of a hexadecimal one.
func (d *decoder) whole(text string) *Node {
	if isHex(text) {
		return d.node(IntNode, text)
	}
	return d.number(text)
}

// json reads a flag, or the part after '=', that is written as JSON.
func (d *decoder) json(text string) (*Node, error) {
	n, err := parseJSONNode(d.file, []byte(text))
	if err == nil {
		err = checkTree(d.file, n)
	}
	return n, err
}

// flagDim reads XxYxZ.
func flagDim(flag, text string) (*decoder, *Node, error) {
	d := flagDecoder(flag, text)
	n := d.node(SeqNode, "")
	for _, part := range strings.Split(text, "x") {
		item := d.number(part)
		if item.Kind != IntNode {
			return d, nil, d.flagError("want whole numbers, as 2 or 2x1x1")
		}
		n.Items = append(n.Items, item)
	}
	return d, n, nil
}

// ParseDim3 reads 4, 4x2 or 4x2x1; missing dimensions are 1. The name of the flag selects
// the limits: --grid, --block or --cluster.
func ParseDim3(flag, text string) ([3]uint32, error) {
	d, n, err := flagDim(flag, text)
	if err != nil {
		return [3]uint32{1, 1, 1}, err
	}
	switch flag {
	case "--block":
		return d.block(n)
	case "--cluster":
		return d.cluster(n)
	}
	return d.grid(n)
}

// ParseBufferFlag reads name=type[shape]:fill or name={JSON}. Without a fill
// the buffer is uninitialized; without a shape it has the fill file's.
func ParseBufferFlag(text string) (Buffer, error) {
	d := flagDecoder("--buffer", text)
	name, n, err := d.arrayFlag(text, "in=f32[16384]:iota")
	if err != nil {
		return Buffer{}, err
	}
	return d.buffer(Entry{Key: name, Pos: Pos{File: d.file}, Value: n})
}

// arrayFlag reads name=type[shape]:fill or name={JSON}.
func (d *decoder) arrayFlag(text, example string) (name string, n *Node, err error) {
	name, rest, ok := strings.Cut(text, "=")
	if !ok {
		return "", nil, d.flagError("want name=type[shape]:fill, as %s", example)
	}
	if strings.HasPrefix(rest, "{") {
		n, err := d.json(rest)
		return name, n, err
	}
	head, fill, hasFill := strings.Cut(rest, ":")
	typ, dims, hasShape := strings.Cut(head, "[")
	switch {
	case typ == "":
		return "", nil, d.flagError("it has no type; want name=type[shape]:fill, as %s", example)
	case strings.ContainsAny(typ, "(<{"):
		return "", nil, d.flagError("the shape stands between [ and ], as %s", example)
	}
	n = d.node(MapNode, "")
	d.add(n, "type", d.node(StringNode, typ))
	if hasShape {
		dims, ok = strings.CutSuffix(dims, "]")
		if !ok {
			if strings.Contains(dims, "]") {
				return "", nil, d.flagError("behind the shape stands a colon and the fill, as %s", example)
			}
			return "", nil, d.flagError("the shape lacks its ']'")
		}
		d.add(n, "shape", d.intList(dims))
	}
	if hasFill {
		d.add(n, "fill", d.flagFill(fill))
	}
	return name, n, nil
}

// ParseVariableFlag reads name=type[shape]:fill or {"name": {JSON}}.
func ParseVariableFlag(text string) (Variable, error) {
	d := flagDecoder("--variable", text)
	n := d.node(MapNode, "")
	if len(text) > 0 && text[0] == '{' {
		var err error
		if n, err = d.json(text); err != nil {
			return Variable{}, err
		}
	} else {
		name, head, err := d.arrayFlag(text, "coeff=f32[64]:iota")
		if err != nil {
			return Variable{}, err
		}
		d.add(n, name, head)
	}
	list, err := d.variables(n)
	switch {
	case err != nil:
		return Variable{}, err
	case len(list) != 1:
		return Variable{}, d.flagError("want one variable, not %d", len(list))
	}
	return list[0], nil
}

func (d *decoder) add(n *Node, key string, v *Node) {
	n.Entries = append(n.Entries, Entry{Key: key, Pos: Pos{File: d.file}, Value: v})
}

// intList reads 4,4 or 4x4.
func (d *decoder) intList(text string) *Node {
	n := d.node(SeqNode, "")
	if text == "" {
		return n
	}
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == 'x' }) {
		n.Items = append(n.Items, d.number(strings.TrimSpace(part)))
	}
	return n
}

// flagFill builds the node that a launch file would contain.
func (d *decoder) flagFill(text string) *Node {
	key, arg, ok := strings.Cut(text, "=")
	if !ok {
		return d.node(StringNode, text)
	}
	v := d.node(StringNode, arg)
	switch key {
	case "mod":
		v = d.number(arg)
	case "random":
		v = d.node(MapNode, "")
		for i, part := range strings.SplitN(arg, ",", 3) {
			d.add(v, []string{"seed", "low", "high"}[i], d.number(part))
		}
	}
	n := d.node(MapNode, "")
	d.add(n, key, v)
	return n
}

// ParseExpectFlag reads name=file[,type=t][,atol=x][,rtol=x][,ulp=n] or name={JSON}.
func ParseExpectFlag(text string) (Expect, error) {
	d := flagDecoder("--expect", text)
	name, rest, ok := strings.Cut(text, "=")
	if !ok || name == "" || rest == "" {
		return Expect{}, d.flagError("want name=file, as out=out.npy")
	}
	n := d.node(MapNode, "")
	if strings.HasPrefix(rest, "{") {
		var err error
		if n, err = d.json(rest); err != nil {
			return Expect{}, err
		}
	} else {
		d.flagTolerance(n, rest)
	}
	return d.expect(Entry{Key: name, Pos: Pos{File: d.file}, Value: n})
}

// flagTolerance strips tolerances from the end, so that the path of the file may contain
// commas.
func (d *decoder) flagTolerance(n *Node, rest string) {
	for {
		i := strings.LastIndexByte(rest, ',')
		key, value, ok := strings.Cut(rest[i+1:], "=")
		if i < 0 || !ok || key != "type" && key != "atol" && key != "rtol" && key != "ulp" {
			break
		}
		v := d.number(value)
		if key == "type" {
			v = d.node(StringNode, value)
		}
		d.add(n, key, v)
		rest = rest[:i]
	}
	d.add(n, "file", d.node(StringNode, rest))
}

// ParseAcceptFlag reads finding@place=reason or JSON.
func ParseAcceptFlag(text string) (Accept, error) {
	d := flagDecoder("--accept", text)
	if strings.HasPrefix(text, "{") {
		n, err := d.json(text)
		if err != nil {
			return Accept{}, err
		}
		return d.accept(n)
	}
	head, reason, ok := strings.Cut(text, "=")
	finding, place, ok2 := strings.Cut(head, "@")
	if !ok || !ok2 {
		return Accept{}, d.flagError("want finding@place=reason, as proxy-war@gemm.cu:118=…")
	}
	n := d.node(MapNode, "")
	d.add(n, "finding", d.node(StringNode, finding))
	d.add(n, "at", d.node(StringNode, place))
	d.add(n, "reason", d.node(StringNode, reason))
	return d.accept(n)
}
