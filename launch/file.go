package launch

import (
	"cmp"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"muster/internal/files"
)

// A File is a launch file: launches over one memory, and the expected results. Its paths
// are resolved. Every element keeps its position.
type File struct {
	Name     string // as given; "" if built from flags alone
	Version  int
	Launches []Launch // at least one; what orders several: Order
	Buffers  []Buffer // in the file's order, which is the order in memory
	// Variables are contents of the module's variables, set before the launch.
	Variables []Variable
	Expect    []Expect
	Accept    []Accept
	Assume    []string  // assumptions beyond the ISA: VectorAtomic
	Missing   []Missing // what is not filled in: nothing, in a valid file
}

// VectorAtomic assumes that an aligned load or store of up to 16 bytes is one access, as
// on hardware, where the ISA has one per element (8.2.4).
const VectorAtomic = "vector-atomic"

// A Launch is one kernel with its shape and arguments.
type Launch struct {
	Pos Pos
	PTX string // path
	// Text is the PTX itself, in place of the file PTX, which is then its name, in a File
	// built in Go.
	Text []byte
	// Link are the paths of PTX modules that are linked with PTX (ptx.Link).
	Link    []string
	Kernel  string // "" for the only entry of the module
	Grid    [3]uint32
	Block   [3]uint32
	Cluster [3]uint32 // zero: what the kernel declares, else 1
	// Preferred is the preferred size of clusters, a multiple of Cluster; zero for none
	// (cudaLaunchAttributePreferredClusterDimension).
	Preferred [3]uint32
	Shared    uint32 // dynamic shared memory, bytes
	// Registers are those of a thread at entry, as the kernel was compiled; 0: from what it
	// declares. They do not make a compiler keep a setmaxnreg that it leaves out.
	Registers uint32
	// MaxRegCount is what the compiler's option -maxrregcount gave; 0: no option. It keeps
	// setmaxnreg in a kernel that declares no bound.
	MaxRegCount uint32
	Args        []Arg
	// Cooperative: the driver starts all CTAs together or none, and gives the grid a
	// workspace for its barrier (cuLaunchCooperativeKernel).
	Cooperative bool
	// CoResident is how many CTAs of the grid share a multiprocessor and its tensor memory;
	// 0 for one.
	CoResident uint32
	// Of several launches: see sequence.go.
	Name      string
	Stream    string
	After     []After // nil: none given
	Dependent bool
	Builtin   Builtin // a fill or a copy, which has no PTX

	gridPos, blockPos, clusterPos, preferredPos Pos
}

// MaxModules bounds the modules of PTX that are linked for a launch.
const MaxModules = 1024

// Modules returns the paths of the PTX of a launch: one, or several that are linked.
func (l *Launch) Modules() []string { return append([]string{l.PTX}, l.Link...) }

// Expect says what a buffer must hold after the launch.
type Expect struct {
	Pos    Pos
	Buffer string
	File   string // path of an .npy
	// As is the type as which the buffer's bytes are compared; 0: the buffer's own.
	As        Type
	Tolerance Tolerance
	// Data are the bytes themselves, instead of File, in a File built in Go. Their length
	// is the buffer's.
	Data []byte
}

func (x *Expect) as(own Type) Type {
	if x.As != 0 {
		return x.As
	}
	return own
}

// Accept excludes a finding from the verdict, for a stated reason.
type Accept struct {
	Pos     Pos
	Finding string // its name in the catalogue; not checked here
	At      string // file or file:line, as in the finding
	Reason  string
}

// Limits of the CUDA programming guide, for every architecture from sm_70 on. Resource
// limits of an SM depend on the kernel and are not checked here.
const (
	MaxGridX        = math.MaxInt32
	MaxGridYZ       = 65535
	MaxBlockThreads = 1024
	MaxBlockZ       = 64
	MaxClusterCTAs  = 16     // 8 are portable
	MaxShared       = 232448 // 227 KiB, the opt-in maximum of a CTA
	MaxRegisters    = 256    // per thread; the largest value of setmaxnreg
	MaxRegCount     = 255    // of -maxrregcount
	MaxCoResident   = 32     // CTAs of a multiprocessor
)

// ReadFile reads a launch file in JSON.
func ReadFile(name string) (*File, error) {
	f, err := openRegular(name)
	if err != nil {
		return nil, &Error{Pos: Pos{File: name}, Msg: files.Cause(err).Error(), Err: err}
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxFileSize+1))
	if err != nil {
		return nil, &Error{Pos: Pos{File: name}, Msg: files.Cause(err).Error(), Err: err}
	}
	return ParseJSON(name, data)
}

// ParseJSON reads a launch file in JSON. The name is for errors; paths are relative to
// its directory. Errors are of type *Error.
func ParseJSON(name string, data []byte) (*File, error) {
	root, err := parseJSONNode(name, data)
	if err != nil {
		return nil, err
	}
	return Parse(name, root)
}

// Parse reads a launch file from its tree of nodes.
func Parse(name string, root *Node) (*File, error) {
	if err := checkTree(name, root); err != nil {
		return nil, err
	}
	d := &decoder{file: name, dir: filepath.Dir(name)}
	f := &File{Name: name, Version: 1, Missing: takeUnfilled(name, root)}
	if err := d.readFile(f, root); err != nil {
		return nil, cmp.Or(f.checkFilled(), err)
	}
	if len(f.Missing) > 0 {
		return f, nil // flags may fill it in: Validate says whether they do
	}
	if err := f.Validate(); err != nil {
		return nil, err
	}
	return f, nil
}

func (d *decoder) readFile(f *File, root *Node) error {
	if root.Kind == NullNode {
		return d.errorf(root, "the launch file is empty")
	}
	l := Launch{Pos: d.pos(root)}
	table := append([]field{
		{"version", false, func(n *Node) error {
			if n.Kind != IntNode || n.Text != "1" {
				return d.errorf(n, "version %s is not known; this program reads version 1", describe(n))
			}
			return nil
		}},
		{"buffers", false, func(n *Node) (err error) { f.Buffers, err = d.buffers(n); return }},
		{"variables", false, func(n *Node) (err error) { f.Variables, err = d.variables(n); return }},
		{"expect", false, func(n *Node) (err error) { f.Expect, err = d.expects(n); return }},
		{"accept", false, func(n *Node) (err error) { f.Accept, err = d.accepts(n); return }},
		{"assume", false, func(n *Node) (err error) { f.Assume, err = d.assumes(n); return }},
	}, d.launchFields(&l)...)
	if root.Kind == MapNode && slices.ContainsFunc(root.Entries, func(e Entry) bool { return e.Key == "launches" }) {
		table = append(table[:len(table)-len(d.launchFields(&l))], field{"launches", true, func(n *Node) (err error) { f.Launches, err = d.launches(n); return }})
		return d.fields(root, "a launch file", table)
	}
	err := d.fields(root, "a launch file", table)
	f.Launches = []Launch{l}
	return err
}

func (d *decoder) launchFields(l *Launch) []field {
	return []field{
		{"ptx", true, func(n *Node) (err error) { l.PTX, l.Link, err = d.modules(n); return }},
		{"kernel", false, func(n *Node) (err error) { l.Kernel, err = d.str(n, "kernel"); return }},
		{"grid", true, func(n *Node) (err error) { l.gridPos = d.pos(n); l.Grid, err = d.grid(n); return }},
		{"block", true, func(n *Node) (err error) { l.blockPos = d.pos(n); l.Block, err = d.block(n); return }},
		{"cluster", false, func(n *Node) (err error) { l.clusterPos = d.pos(n); l.Cluster, err = d.cluster(n); return }},
		{"preferred-cluster", false, func(n *Node) (err error) {
			l.preferredPos = d.pos(n)
			l.Preferred, err = d.preferred(n)
			return
		}},
		{"shared", false, func(n *Node) (err error) { l.Shared, err = d.uint32(n, "shared", 0, MaxShared); return }},
		{"registers", false, func(n *Node) (err error) { l.Registers, err = d.uint32(n, "registers", 1, MaxRegisters); return }},
		{"maxrregcount", false, func(n *Node) (err error) {
			l.MaxRegCount, err = d.uint32(n, "maxrregcount", 1, MaxRegCount)
			return
		}},
		{"cooperative", false, func(n *Node) (err error) { l.Cooperative, err = d.boolean(n, "cooperative"); return }},
		{"co-resident", false, func(n *Node) (err error) { l.CoResident, err = d.uint32(n, "co-resident", 1, MaxCoResident); return }},
		{"args", false, func(n *Node) (err error) { l.Args, err = d.args(n); return }},
	}
}

// modules reads a path of PTX, or a list of paths whose modules are linked.
func (d *decoder) modules(n *Node) (first string, rest []string, err error) {
	if n.Kind != SeqNode {
		first, err = d.path(n, "ptx")
		return first, nil, err
	}
	if len(n.Items) == 0 || len(n.Items) > MaxModules {
		return "", nil, d.errorf(n, "ptx is a list of %d modules; from 1 to %d can be linked", len(n.Items), MaxModules)
	}
	for i, item := range n.Items {
		p, err := d.path(item, "ptx")
		if err != nil {
			return "", nil, err
		}
		if i == 0 {
			first = p
		} else {
			rest = append(rest, p)
		}
	}
	return first, rest, nil
}

func (d *decoder) uint32(n *Node, what string, lo, hi int64) (uint32, error) {
	v, err := d.integer(n, what, lo, hi)
	return uint32(v), err
}

func (d *decoder) boolean(n *Node, what string) (bool, error) {
	if n.Kind != BoolNode {
		return false, d.errorf(n, "%s is true or false, not %s", what, describe(n))
	}
	return n.Text == "true", nil
}

func (d *decoder) grid(n *Node) ([3]uint32, error) {
	return d.dim3(n, "grid", [3]int64{MaxGridX, MaxGridYZ, MaxGridYZ})
}

func (d *decoder) block(n *Node) ([3]uint32, error) {
	dims, err := d.dim3(n, "block", [3]int64{MaxBlockThreads, MaxBlockThreads, MaxBlockZ})
	if err == nil && volume(dims) > MaxBlockThreads {
		err = d.errorf(n, "block has %d threads; a CTA has at most %d", volume(dims), MaxBlockThreads)
	}
	return dims, err
}

func (d *decoder) cluster(n *Node) ([3]uint32, error) { return d.clusterOf(n, "cluster") }

func (d *decoder) preferred(n *Node) ([3]uint32, error) { return d.clusterOf(n, "preferred-cluster") }

func (d *decoder) clusterOf(n *Node, what string) ([3]uint32, error) {
	dims, err := d.dim3(n, what, [3]int64{MaxClusterCTAs, MaxClusterCTAs, MaxClusterCTAs})
	if err == nil && volume(dims) > MaxClusterCTAs {
		err = d.errorf(n, "%s has %d CTAs; at most %d are allowed", what, volume(dims), MaxClusterCTAs)
	}
	return dims, err
}

func volume(d [3]uint32) uint64 { return uint64(d[0]) * uint64(d[1]) * uint64(d[2]) }

func (d *decoder) expects(n *Node) ([]Expect, error) {
	if n.Kind != MapNode {
		return nil, d.errorf(n, "expect is a mapping from buffer names, not %s", n.Kind)
	}
	var list []Expect
	for _, e := range n.Entries {
		x, err := d.expect(e)
		if err != nil {
			return nil, err
		}
		list = append(list, x)
	}
	return list, nil
}

func (d *decoder) expect(e Entry) (Expect, error) {
	x := Expect{Pos: at(d.file, e.Pos), Buffer: e.Key}
	tol := &x.Tolerance
	loose := false
	err := d.fields(e.Value, "an expectation", []field{
		{"file", true, func(n *Node) (err error) { x.File, err = d.path(n, "file"); return }},
		{"type", false, func(n *Node) (err error) { x.As, err = d.typ(n); return }},
		{"atol", false, func(n *Node) (err error) { loose = true; tol.Abs, err = d.tolerance(n, "atol"); return }},
		{"rtol", false, func(n *Node) (err error) { loose = true; tol.Rel, err = d.tolerance(n, "rtol"); return }},
		{"ulp", false, func(n *Node) error {
			v, err := d.integer(n, "ulp", 0, math.MaxInt64)
			tol.ULP, tol.ByULP = uint64(v), true
			return err
		}},
	})
	if err == nil && loose && tol.ByULP {
		err = d.errorf(e.Value, "ulp excludes atol and rtol")
	}
	return x, err
}

func (d *decoder) tolerance(n *Node, what string) (float64, error) {
	v, err := d.float(n, what)
	if err == nil && v < 0 {
		err = d.errorf(n, "%s is %s; it cannot be negative", what, n.Text)
	}
	return v, err
}

func (d *decoder) accepts(n *Node) ([]Accept, error) {
	if n.Kind != SeqNode {
		return nil, d.errorf(n, "accept is a list, not %s", n.Kind)
	}
	var list []Accept
	for _, item := range n.Items {
		a, err := d.accept(item)
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, nil
}

// assumes reads the assumptions, by name.
func (d *decoder) assumes(n *Node) ([]string, error) {
	if n.Kind != SeqNode {
		return nil, d.errorf(n, "assume is a list, not %s", n.Kind)
	}
	var list []string
	for _, item := range n.Items {
		name, err := d.str(item, "an assumption")
		if err != nil {
			return nil, err
		}
		if name != VectorAtomic {
			return nil, d.errorf(item, "no assumption is called %s; there is %s", quote(name), VectorAtomic)
		}
		list = append(list, name)
	}
	return list, nil
}

func (d *decoder) accept(n *Node) (Accept, error) {
	a := Accept{Pos: d.pos(n)}
	err := d.fields(n, "an accepted finding", []field{
		{"finding", true, func(n *Node) (err error) { a.Finding, err = d.str(n, "finding"); return }},
		{"at", true, func(n *Node) (err error) { a.At, err = d.str(n, "at"); return }},
		{"reason", true, func(n *Node) (err error) {
			a.Reason, err = d.str(n, "reason")
			if err == nil && strings.TrimSpace(a.Reason) == "" {
				err = d.errorf(n, "reason is empty")
			}
			return
		}},
	})
	return a, err
}

// Validate checks what involves several keys: that names are known and that numbers are
// consistent. Parse, FromFlags and what loads a File call it.
func (f *File) Validate() error {
	if err := f.checkFilled(); err != nil {
		return err
	}
	if n := len(f.Launches); n == 0 || n > MaxLaunches {
		return errorf(Pos{File: f.Name}, "%d launches; a file has from 1 to %d", n, MaxLaunches)
	}
	buffers := make(map[string]*Buffer)
	for i := range f.Buffers {
		b := &f.Buffers[i]
		if first := buffers[b.Name]; first != nil {
			return errorf(b.Pos, "buffer %q is already declared at %s", b.Name, first.Pos)
		}
		if err := checkGiven(b); err != nil {
			return err
		}
		buffers[b.Name] = b
	}
	if err := f.checkVariables(); err != nil {
		return err
	}
	if err := f.checkReferences(buffers); err != nil {
		return err
	}
	for i := range f.Launches {
		l := &f.Launches[i]
		if err := l.validate(); err != nil {
			return err
		}
		for i := range l.Args {
			if err := l.Args[i].validate(); err != nil {
				return err
			}
		}
	}
	if err := f.checkOrder(); err != nil {
		return err
	}
	return f.checkExpect(buffers)
}

func (f *File) checkReferences(buffers map[string]*Buffer) error {
	check := func(p Pos, name string) error {
		if b := buffers[name]; b != nil {
			return nil
		}
		return errorf(p, "no buffer is called %s%s", quote(name), f.hint(name))
	}
	for i := range f.Buffers {
		for _, v := range f.Buffers[i].Values {
			if err := eachReference(v, check); err != nil {
				return err
			}
		}
	}
	for i := range f.Variables {
		if err := f.Variables[i].eachReference(check); err != nil {
			return err
		}
	}
	for i := range f.Launches {
		for _, a := range f.Launches[i].Args {
			if err := a.eachReference(check); err != nil {
				return err
			}
		}
	}
	for _, x := range f.Expect {
		if err := check(x.Pos, x.Buffer); err != nil {
			return err
		}
	}
	return nil
}

// hint suggests a buffer's name, or lists them.
func (f *File) hint(name string) string {
	var names []string
	for _, b := range f.Buffers {
		names = append(names, b.Name)
	}
	if s := suggest(name, names); s != "" || len(names) == 0 {
		return s
	}
	if len(names) > 8 {
		names = append(names[:8], "…")
	}
	return "; there are " + strings.Join(names, ", ")
}

func (l *Launch) validate() error {
	if len(l.Link) >= MaxModules {
		return errorf(l.Pos, "more than %d modules of PTX", MaxModules)
	}
	if (l.PTX == "" || slices.Contains(l.Link, "")) && l.Builtin == NoBuiltin {
		return errorf(l.Pos, "a launch needs the key \"ptx\"")
	}
	if volume(l.Grid) == 0 || volume(l.Block) == 0 {
		return errorf(l.Pos, "a launch needs grid and block")
	}
	for i := range l.Grid {
		if l.Cluster != [3]uint32{} && (l.Cluster[i] == 0 || l.Grid[i]%l.Cluster[i] != 0) {
			return errorf(l.clusterPos, "grid is %d in %c, no multiple of the cluster's %d", l.Grid[i], "xyz"[i], l.Cluster[i])
		}
	}
	return l.validatePreferred()
}

// validatePreferred checks the preferred size of clusters. The regular one may be the kernel's
// to declare.
func (l *Launch) validatePreferred() error {
	if l.Preferred == [3]uint32{} {
		return nil
	}
	for i := range l.Grid {
		if l.Preferred[i] == 0 || l.Grid[i]%l.Preferred[i] != 0 {
			return errorf(l.preferredPos, "grid is %d in %c, no multiple of the preferred cluster's %d", l.Grid[i], "xyz"[i], l.Preferred[i])
		}
		if l.Cluster != [3]uint32{} && l.Preferred[i]%l.Cluster[i] != 0 {
			return errorf(l.preferredPos, "preferred-cluster is %d in %c, no multiple of the cluster's %d", l.Preferred[i], "xyz"[i], l.Cluster[i])
		}
	}
	return nil
}

func (f *File) checkExpect(buffers map[string]*Buffer) error {
	seen := make(map[string]bool)
	for _, x := range f.Expect {
		b := buffers[x.Buffer]
		tol, as := x.Tolerance, x.as(b.Type)
		switch {
		case seen[x.Buffer]:
			return errorf(x.Pos, "buffer %q is expected twice", x.Buffer)
		case b.Type == TensorMapType:
			return errorf(x.Pos, "buffer %q holds tensor maps, which cannot be compared", x.Buffer)
		case !as.valid() || as == TensorMapType:
			return errorf(x.Pos, "buffer %q cannot be compared as %s", x.Buffer, as)
		case tol.ByULP && !as.IsFloat():
			return errorf(x.Pos, "ulp needs floating point; buffer %q is %s", x.Buffer, as)
		case tol.ByULP && (tol.Abs != 0 || tol.Rel != 0):
			return errorf(x.Pos, "ulp excludes atol and rtol")
		}
		seen[x.Buffer] = true
	}
	return nil
}

// Buffer finds a buffer by name; nil if there is none.
func (f *File) Buffer(name string) *Buffer {
	for i := range f.Buffers {
		if f.Buffers[i].Name == name {
			return &f.Buffers[i]
		}
	}
	return nil
}

// openRegular opens a file to read. Devices and pipes are refused: they can
// block, or never end.
func openRegular(name string) (*os.File, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &os.PathError{Op: "read", Path: name, Err: errNotRegular}
	}
	return os.Open(name)
}
