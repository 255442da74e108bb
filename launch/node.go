package launch

// A NodeKind says what a Node is.
type NodeKind uint8

const (
	NullNode NodeKind = iota
	BoolNode
	IntNode
	FloatNode
	StringNode
	SeqNode
	MapNode
)

var nodeKindNames = [...]string{"null", "a boolean", "an integer", "a number", "a string", "a list", "a mapping"}

// String returns the kind with its article, as error messages use it.
func (k NodeKind) String() string {
	if int(k) < len(nodeKindNames) {
		return nodeKindNames[k]
	}
	return "an unknown node"
}

// A Node is a value in a launch file, in the structure common to JSON and YAML, with
// positions. Pos.File may be empty: Parse fills it in.
//
// Text is the source token of a scalar. For numbers the notation matters: `0x3f800000`
// gives the bits of a float, 1065353216 its value.
type Node struct {
	Kind    NodeKind
	Pos     Pos
	Text    string
	Items   []*Node // of a SeqNode
	Entries []Entry // of a MapNode, in the file's order
}

// An Entry is one key of a mapping with its value.
type Entry struct {
	Key   string
	Pos   Pos // of the key
	Value *Node
}

// Limits on a launch file. They bound the work and memory that bad input can cost; good
// files stay far below them (large arrays belong into .npy).
const (
	MaxFileSize = 64 << 20 // bytes of JSON
	MaxDepth    = 64       // nested lists and mappings
	MaxNodes    = 1 << 20  // values; an aliased one counts at every use
	MaxString   = 64 << 10 // bytes of one string
)

// checkTree rejects bad trees before anything else reads them: too deep or too large,
// with duplicate keys or missing values. Trees from YAML may share or even contain
// themselves through aliases; the limits hold for them too, because every use is counted.
func checkTree(file string, root *Node) error {
	count := 0
	return checkNode(file, root, Pos{File: file, Line: 1, Col: 1}, 0, &count)
}

func checkNode(file string, n *Node, parent Pos, depth int, count *int) error {
	if n == nil {
		return errorf(parent, "a value is missing")
	}
	pos := at(file, n.Pos)
	if depth > MaxDepth {
		return errorf(pos, "nested more than %d deep", MaxDepth)
	}
	if *count++; *count > MaxNodes {
		return errorf(pos, "more than %d values; put large arrays into a .npy file", MaxNodes)
	}
	if len(n.Text) > MaxString {
		return errorf(pos, "a string of %d bytes; the longest allowed has %d", len(n.Text), MaxString)
	}
	for _, item := range n.Items {
		if err := checkNode(file, item, pos, depth+1, count); err != nil {
			return err
		}
	}
	return checkEntries(file, n, depth, count)
}

func checkEntries(file string, n *Node, depth int, count *int) error {
	seen := make(map[string]Pos, len(n.Entries))
	for _, e := range n.Entries {
		pos := at(file, e.Pos)
		if first, ok := seen[e.Key]; ok {
			return errorf(pos, "duplicate key %s, first at line %d", quote(e.Key), first.Line)
		}
		seen[e.Key] = e.Pos
		if err := checkNode(file, e.Value, pos, depth+1, count); err != nil {
			return err
		}
	}
	return nil
}

// at adds the file name to a position.
func at(file string, p Pos) Pos {
	if p.File == "" {
		p.File = file
	}
	return p
}
