package launch

import (
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A decoder turns nodes into the structs of a File. Paths are relative to dir.
type decoder struct {
	file string
	dir  string
}

// A field is one key that a mapping may have.
type field struct {
	name     string
	required bool
	read     func(*Node) error
}

// fields reads a mapping by its table. Order in the file matters only for errors: the
// first wrong key is reported.
func (d *decoder) fields(n *Node, what string, table []field) error {
	if n.Kind != MapNode {
		return d.errorf(n, "%s is a mapping, not %s", what, n.Kind)
	}
	found := make(map[string]bool)
	for _, e := range n.Entries {
		f := findField(table, e.Key)
		if f == nil {
			return d.unknownKey(e, fieldNames(table))
		}
		found[e.Key] = true
		if err := f.read(e.Value); err != nil {
			return d.place(err)
		}
	}
	var missing []string
	for _, f := range table {
		if f.required && !found[f.name] {
			missing = append(missing, strconv.Quote(f.name))
		}
	}
	switch len(missing) {
	case 0:
		return nil
	case 1:
		return d.errorf(n, "%s needs the key %s", what, missing[0])
	}
	last := len(missing) - 1
	return d.errorf(n, "%s needs the keys %s and %s", what, strings.Join(missing[:last], ", "), missing[last])
}

func findField(table []field, key string) *field {
	for i := range table {
		if table[i].name == key {
			return &table[i]
		}
	}
	return nil
}

func fieldNames(table []field) []string {
	names := make([]string, len(table))
	for i, f := range table {
		names[i] = f.name
	}
	return names
}

func (d *decoder) unknownKey(e Entry, known []string) error {
	hint := suggest(e.Key, known)
	if hint == "" {
		hint = "; known here: " + strings.Join(known, ", ")
	}
	return errorf(at(d.file, e.Pos), "unknown key %s%s", quote(e.Key), hint)
}

func (d *decoder) pos(n *Node) Pos { return at(d.file, n.Pos) }

func (d *decoder) errorf(n *Node, format string, args ...any) error {
	return errorf(d.pos(n), format, args...)
}

// place adds the file name to an error from a helper that does not know it.
func (d *decoder) place(err error) error {
	if e, ok := err.(*Error); ok {
		e.Pos = at(d.file, e.Pos)
	}
	return err
}

func (d *decoder) str(n *Node, what string) (string, error) {
	if n.Kind != StringNode {
		return "", d.errorf(n, "%s is a string, not %s", what, n.Kind)
	}
	if n.Text == "" {
		return "", d.errorf(n, "%s is empty", what)
	}
	return n.Text, nil
}

// path reads a file name and resolves it against dir.
func (d *decoder) path(n *Node, what string) (string, error) {
	p, err := d.str(n, what)
	if err != nil || filepath.IsAbs(p) {
		return p, err
	}
	if strings.ContainsRune(p, 0) {
		return "", d.errorf(n, "%s contains a zero byte", what)
	}
	return filepath.Join(d.dir, p), nil
}

// integer reads a whole number between lo and hi.
func (d *decoder) integer(n *Node, what string, lo, hi int64) (int64, error) {
	return d.integerIn(n, what, "", lo, hi)
}

// integerIn is integer for a part of what, which where names in an error.
func (d *decoder) integerIn(n *Node, what, where string, lo, hi int64) (int64, error) {
	if n.Kind != IntNode {
		return 0, d.errorf(n, "%s is an integer, not %s", what, describe(n))
	}
	bits, msg := intBits(S64, n.Text)
	if isHex(n.Text) {
		bits, msg = hexBits(S64, n.Text)
	}
	if v := int64(bits); msg == "" && lo <= v && v <= hi {
		return v, nil
	}
	if !isWhole(n.Text) {
		return 0, d.errorf(n, "%s is an integer, not %s", what, describe(n))
	}
	return 0, d.errorf(n, "%s is %s%s; it must be from %d to %d", what, shorten(n.Text), where, lo, hi)
}

// isWhole reports whether a text is a whole number, in range or not.
func isWhole(text string) bool {
	digits, known := strings.TrimLeft(text, "+-"), "0123456789"
	if isHex(text) {
		digits, known = text[2:], "0123456789abcdefABCDEF"
	}
	return digits != "" && strings.Trim(digits, known) == ""
}

// uint64 reads an address or a seed, also as a string of hexadecimal digits, since JSON
// has no hexadecimal numbers.
func (d *decoder) uint64(n *Node, what string) (uint64, error) {
	if n.Kind == IntNode || n.Kind == StringNode && isHex(n.Text) {
		if bits, msg := scalarBits(U64, n.Text); msg == "" {
			return bits, nil
		}
	}
	return 0, d.errorf(n, "%s is an integer of 64 bits, as a number or \"0x…\", not %s", what, describe(n))
}

func (d *decoder) float(n *Node, what string) (float64, error) {
	if n.Kind == IntNode || n.Kind == FloatNode {
		v, err := strconv.ParseFloat(n.Text, 64)
		if err == nil && !isHex(n.Text) && !math.IsNaN(v) && !math.IsInf(v, 0) {
			return v, nil
		}
	}
	return 0, d.errorf(n, "%s is a finite number, not %s", what, describe(n))
}

// integers reads a list, or one integer as a list of one.
func (d *decoder) integers(n *Node, what string, lo, hi int64, most int) ([]int64, error) {
	items, err := d.items(n, what, most)
	if err != nil {
		return nil, err
	}
	list := make([]int64, len(items))
	for i, item := range items {
		if list[i], err = d.integer(item, what, lo, hi); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// items returns the integers of a list, or one integer as a list of one.
func (d *decoder) items(n *Node, what string, most int) ([]*Node, error) {
	items := n.Items
	if n.Kind == IntNode {
		items = []*Node{n}
	} else if n.Kind != SeqNode {
		hint := ""
		if parts := strings.Split(n.Text, "x"); n.Kind == StringNode && len(parts) > 1 && !slices.ContainsFunc(parts, func(p string) bool { return !isWhole(p) }) {
			hint = ": write [" + strings.Join(parts, ", ") + "]" // as of a flag
		}
		return nil, d.errorf(n, "%s is a list of integers, not %s%s", what, describe(n), hint)
	}
	if len(items) > most {
		return nil, d.errorf(n, "%s has %d integers; at most %d are allowed", what, len(items), most)
	}
	return items, nil
}

// dim3 reads one to three integers; those left out are 1.
func (d *decoder) dim3(n *Node, what string, limits [3]int64) ([3]uint32, error) {
	dims := [3]uint32{1, 1, 1}
	items, err := d.items(n, what, len(dims))
	if err != nil {
		return dims, err
	}
	if len(items) == 0 {
		return dims, d.errorf(n, "%s has one to three integers, not none", what)
	}
	for i, item := range items {
		v, err := d.integerIn(item, what, " in "+"xyz"[i:i+1], 1, limits[i])
		if err != nil {
			return dims, err
		}
		dims[i] = uint32(v)
	}
	return dims, nil
}

// choice reads one of the words and returns its index.
func (d *decoder) choice(n *Node, what string, words []string) (int, error) {
	if n.Kind == StringNode {
		for i, w := range words {
			if w == n.Text {
				return i, nil
			}
		}
		return 0, d.errorf(n, "unknown %s %s%s; one of %s", what, quote(n.Text), suggest(n.Text, words), strings.Join(words, ", "))
	}
	return 0, d.errorf(n, "%s is one of %s, not %s", what, strings.Join(words, ", "), describe(n))
}

// describe shows a node in an error: the text of a scalar, else the kind.
func describe(n *Node) string {
	switch n.Kind {
	case StringNode:
		return quote(n.Text)
	case IntNode, FloatNode, BoolNode:
		return n.Text
	}
	return n.Kind.String()
}
