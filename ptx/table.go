package ptx

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// The instruction table is text, one line per form, in the files table_*.go by chapter of
// the ISA. A line that begins with "=" opens a section and sets default cells for the
// rows below it:
//
//	= 9.7.13.6 atomic 1.2 sm_12 space=<space> proxy=generic scope=<scope> effect=write,update
//	red.add | red{.<sem:relaxed,release=relaxed>}{.<scope:@scope=gpu>}{.<space:@ss=generic>}.<op:add>{.<hint:@hint>}.<type:u32,s32,u64,f32,f64> [+a], b, hint?policy:b64
//
// A row is a name, a synopsis, and cells that override the section's. In the synopsis
//
//	.word           a fixed modifier
//	.<slot:v,w>     a choice; @set stands for the values of a set
//	{.word} {.<…>}  may be left out; "=v" before the ">" says what that means;
//	                {&.<…>} is there if and only if the one before it is
//	d a             operands: d, p and q are written, others read; "=x" and
//	                "+x" say written, and read and written
//	x:u32 x:<slot>  an operand's type; <type> unless it says so
//	x*4 x*<vec> x*? a vector of so many elements; * with a slot that is left
//	                out means no vector
//	[a] [=a] [+a]   an address that is read, written, both; [.a] neither
//	[a, c*<dim>]    an address with more in its brackets
//	p|q  p[|q]      a destination with a predicate beside it, in brackets if
//	                it may be left out
//	#n @l (r)       an immediate, a label or function, a list of arguments
//	^a              an operand that takes a byte or halfword selector
//	?x  hint?x      an operand that may be left out; one that is there if and
//	                only if the slot hint is
//	slot??x         one that may be left out unless the slot is filled
//
// The cell effect= has words of effectWords, separated by commas. A row states all its
// words, or has none and takes its section's.
//
// The numbers of sections are those of version 9.0 of the ISA; "9.4:9.7.1.5" is one of 9.4, for
// what 9.0 does not have: numbers change.
//
// Among the cells, "if=a:v>b:w,x" is a rule: if slot a is v, slot b must be w or x;
// without ":v", whenever a is filled; "-" among w, x allows leaving b out. "a:v&c>…" has two
// conditions.
//
// "since=a:v,w&b:x>8.6/sm_90" is a Since: if slot a is v or w and b is x, the instruction
// needs PTX 8.6 and sm_90. In a section it applies to those rows that have the slots.
// "since=~…" is required by the ISA but not by ptxas; "takes=6.0/sm_70" is what ptxas
// requires for a row, if less than the row's version and architecture. "gone=6.4/sm_70"
// says that from PTX 6.4 on sm_70 and later no longer have a row. "family=100,103" are
// the only architectures that have a row, and "on=100a,103f" the only targets: sm_100a, and
// the family of sm_103 from it on. "since=a:v>9.4/on_100a+103f" says so of a modifier.
var chapters = []string{integerTable, floatTable, logicTable, moveTable, convertTable, memoryTable, asyncTable,
	textureTable, controlTable, syncTable, atomicTable, mbarrierTable, mmaTable, wgmmaTable, tcgenTable, fabricTable, videoTable, miscTable}

var (
	forms     = buildTable()
	formsByOp = func() map[string][]*Form {
		m := map[string][]*Form{}
		for _, f := range forms {
			m[f.Op] = append(m[f.Op], f)
		}
		return m
	}()
	formsByName = func() map[string]*Form {
		m := map[string]*Form{}
		for _, f := range forms {
			m[f.Name] = f
		}
		return m
	}()
)

// Forms returns the instruction table, in the order of the ISA's chapters. The forms are
// shared: do not change them.
func Forms() []*Form { return slices.Clone(forms) }

// LookupForm finds a row by its name, or returns nil.
func LookupForm(name string) *Form { return formsByName[name] }

func buildTable() []*Form {
	var list []*Form
	for _, text := range chapters {
		var section Form
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			switch {
			case line == "":
			case line[0] == '=':
				section = parseHeader(line)
			default:
				list = append(list, parseRow(section, line))
			}
		}
	}
	return list
}

// badRow panics for a defect of the table: a programming error that every test reveals.
func badRow(line, format string, args ...any) {
	panic("BUG: instruction table: " + fmt.Sprintf(format, args...) + ": " + line)
}

func parseHeader(line string) Form {
	words := strings.Fields(line)
	if len(words) < 5 {
		badRow(line, "a section has a number, a class, a version and an architecture")
	}
	f := Form{Edition: "9.0", Class: words[2], Space: "none", Proxy: "none", Scope: "none", Async: "none", Barrier: "none"}
	f.setCells(line, append([]string{"sec=" + words[1], "ptx=" + words[3], "sm=" + strings.TrimPrefix(words[4], "sm_")}, words[5:]...))
	return f
}

func parseRow(section Form, line string) *Form {
	cols := strings.Split(line, " | ")
	if len(cols) < 2 || len(cols) > 3 {
		badRow(line, "a row has two or three columns")
	}
	f := section
	f.Name = strings.TrimSpace(cols[0])
	f.synopsis = strings.Join(strings.Fields(cols[1]), " ")
	mods, operands, _ := strings.Cut(f.synopsis, " ")
	f.parseMods(line, mods)
	f.Operands = f.parseArgs(line, operands)
	if len(cols) == 3 {
		f.setCells(line, strings.Fields(cols[2]))
	}
	f.keepSince(line, section.Since)
	f.sem = f.slot("sem") + 1
	return &f
}

// setSection sets the number of a section, with the version that it is of before a colon if that
// is another than before.
func (f *Form) setSection(text string) {
	edition, number, ok := strings.Cut(text, ":")
	if !ok {
		edition, number = f.Edition, text
	}
	f.Edition, f.Section = edition, number
}

func (f *Form) setCells(line string, cells []string) {
	for _, c := range cells {
		key, val, ok := strings.Cut(c, "=")
		if !ok || val == "" {
			badRow(line, "cell %q has no value", c)
		}
		switch key {
		case "space":
			f.Space = val
		case "proxy":
			f.Proxy = val
		case "scope":
			f.Scope = val
		case "async":
			f.Async = val
		case "barrier":
			f.Barrier = val
		case "effect":
			f.Effect = parseEffect(line, val)
		case "if":
			f.Rules = append(slices.Clip(f.Rules), f.parseRule(line, val))
		case "since":
			f.Since = append(slices.Clip(f.Since), parseSince(line, val))
		case "class":
			f.Class = val
		case "sec":
			f.setSection(val)
		case "takes": // what ptxas asks for, where that is less
			t := parseSince(line, ">"+val)
			f.Takes = &t
		case "gone":
			t := parseSince(line, ">"+val)
			f.Gone = &t
		case "on":
			f.On = parseTargets(line, val, ",")
		case "family":
			f.Family = nil
			for n := range strings.SplitSeq(val, ",") {
				f.Family = append(f.Family, parseSM(line, n).Number)
			}
		case "sm":
			f.SM = parseSM(line, val)
		case "ptx":
			if _, err := fmt.Sscanf(val, "%d.%d", &f.Version.Major, &f.Version.Minor); err != nil {
				badRow(line, "version %q", val)
			}
		default:
			badRow(line, "unknown cell %q", key)
		}
	}
}

// parseRule takes "slot:v,w&slot>slot:x,y".
func (f *Form) parseRule(line, s string) Rule {
	cond, then, ok := strings.Cut(s, ">")
	r := Rule{If: parseConds(line, cond)}
	var are string
	r.Then, are, _ = strings.Cut(then, ":")
	if !ok || are == "" || f.slot(r.Then) < 0 || slices.ContainsFunc(r.If, func(c Cond) bool { return f.slot(c.Slot) < 0 }) {
		badRow(line, "rule %q", s)
	}
	r.Are = values(line, are)
	return r
}

// parseTargets takes "100a,103f", with sep between targets.
func parseTargets(line, val, sep string) (list []SM) {
	for n := range strings.SplitSeq(val, sep) {
		list = append(list, parseSM(line, n))
	}
	return list
}

func parseSM(line, val string) SM {
	digits := strings.TrimRight(val, "af")
	n, err := strconv.Atoi(digits)
	if err != nil {
		badRow(line, "architecture %q", val)
	}
	return SM{n, val[len(digits):]}
}

// parseMods parses the modifiers of a synopsis.
func (f *Form) parseMods(line, s string) {
	n := strings.IndexAny(s, ".{")
	if n < 0 {
		f.Op = s
		return
	}
	f.Op, s = s[:n], s[n:]
	for s != "" {
		optional := s[0] == '{'
		end := len(s)
		switch {
		case optional:
			end = strings.IndexByte(s, '}') + 1
		case strings.HasPrefix(s, ".<"):
			end = strings.IndexByte(s, '>') + 1
		default:
			if i := strings.IndexAny(s[1:], ".{"); i >= 0 {
				end = i + 1
			}
		}
		if end == 0 {
			badRow(line, "unclosed bracket")
		}
		word := strings.Trim(s[:end], "{}")
		slot := parseSlot(line, strings.TrimPrefix(word, "&"))
		slot.Optional, slot.Tied = optional, word[0] == '&'
		f.addSlot(line, slot)
		s = s[end:]
	}
}

func (f *Form) addSlot(line string, s Slot) {
	base := s.Name
	for n := 2; f.slot(s.Name) >= 0; n++ {
		if len(s.Values) > 1 {
			badRow(line, "two slots are named %q", base)
		}
		s.Name = base + "#" + strconv.Itoa(n)
	}
	f.Slots = append(f.Slots, s)
}

func parseSlot(line, s string) Slot {
	if len(s) < 2 || s[0] != '.' {
		badRow(line, "modifier %q", s)
	}
	s = s[1:]
	if s[0] != '<' {
		return Slot{Name: s, Values: []string{s}}
	}
	name, list, ok := strings.Cut(s[1:len(s)-1], ":")
	if !ok {
		badRow(line, "slot %q has no values", name)
	}
	list, def, _ := strings.Cut(list, "=")
	return Slot{Name: name, Values: values(line, list), Default: def}
}

// values expands a list of values and @sets.
func values(line, s string) (list []string) {
	for v := range strings.SplitSeq(s, ",") {
		if !strings.HasPrefix(v, "@") {
			list = append(list, v)
		} else if set, ok := sets[v[1:]]; ok {
			list = append(list, set...)
		} else {
			badRow(line, "unknown set %q; there are %v", v, slices.Sorted(maps.Keys(sets)))
		}
	}
	return list
}

// splitArgs cuts at commas outside brackets.
func splitArgs(s string) (list []string) {
	depth, start := 0, 0
	for i := range len(s) {
		switch s[i] {
		case '[', '(':
			depth++
		case ']', ')':
			depth--
		case ',':
			if depth == 0 {
				list = append(list, strings.TrimSpace(s[start:i]))
				start = i + 1
			}
		}
	}
	if s = strings.TrimSpace(s[start:]); s != "" {
		list = append(list, s)
	}
	return list
}

func (f *Form) parseArgs(line, s string) []Arg {
	var list []Arg
	for _, word := range splitArgs(s) {
		list = append(list, f.parseArg(line, word))
	}
	return list
}

func (f *Form) parseArg(line, s string) Arg {
	a := Arg{Role: Read, Class: "reg", Count: "1", Access: "none"}
	if s == "_" {
		return Arg{Name: "_", Role: Write, Class: "sink", Type: "none", Count: "1", Access: "none"}
	}
	if when, rest, ok := strings.Cut(s, "?"); ok && !strings.ContainsAny(when, "*[") {
		if when != "" && f.slot(when) < 0 {
			badRow(line, "operand depends on unknown slot %q", when)
		}
		a.Optional, a.When, s = true, when, rest
		if strings.HasPrefix(s, "?") {
			a.When, a.Needs, s = "", when, s[1:]
		}
	}
	if a2, rest, ok := strings.Cut(s, "[|"); ok && s[0] != '[' {
		a.Pred = &Arg{Name: strings.TrimSuffix(rest, "]"), Role: Write, Class: "pred", Type: "pred", Count: "1", Access: "none", Optional: true}
		s = a2
	} else if a2, rest, ok := strings.Cut(s, "|"); ok {
		a.Pred = &Arg{Name: rest, Role: Write, Class: "pred", Type: "pred", Count: "1", Access: "none"}
		s = a2
	}
	switch s[0] {
	case '[':
		f.parseAddress(line, &a, s[1:len(s)-1])
		return a
	case '(':
		a.Name, a.Class, a.Type = s[1:len(s)-1], "list", "any"
		return a
	case '@':
		a.Name, a.Class, a.Role, a.Type = s[1:], "label", LabelRef, "code"
		return a
	case '#':
		a.Class, a.Role, s = "imm", Immediate, s[1:]
	}
	f.parseNamed(line, &a, s)
	return a
}

var accesses = map[byte]string{'=': "write", '+': "readwrite", '.': "none"}

func (f *Form) parseAddress(line string, a *Arg, s string) {
	words := splitArgs(s)
	a.Role, a.Class, a.Access = Address, "mem", "read"
	if acc := accesses[words[0][0]]; acc != "" {
		a.Access, words[0] = acc, words[0][1:]
	}
	f.parseNamed(line, a, words[0])
	a.Role, a.Class = Address, "mem"
	for _, w := range words[1:] {
		a.Rest = append(a.Rest, f.parseArg(line, w))
	}
}

// parseNamed parses name*count:type with the sign of its role.
func (f *Form) parseNamed(line string, a *Arg, s string) {
	switch {
	case a.Role == Immediate:
	case s[0] == '=':
		a.Role, s = Write, s[1:]
	case s[0] == '+':
		a.Role, s = ReadWrite, s[1:]
	case a.Class != "mem" && (s[0] == 'd' || s[0] == 'p' || s[0] == 'q') && (len(s) == 1 || s[1] == '*' || s[1] == ':'):
		a.Role = Write
	}
	if s[0] == '^' {
		a.Class, s = "video", s[1:]
	}
	s, typ, ok := strings.Cut(s, ":")
	if !ok {
		typ = "<type>"
	}
	name, count, ok := strings.Cut(s, "*")
	if ok && count == "?" {
		count = "any"
	}
	a.Name, a.Type = name, typ
	if ok {
		a.Count = count
		a.Class = "vector"
	}
	if typ == "pred" && a.Class == "reg" {
		a.Class = "pred"
	}
	for _, ref := range []string{typ, a.Count} {
		if strings.HasPrefix(ref, "<") && f.slot(ref[1:len(ref)-1]) < 0 {
			badRow(line, "operand %s refers to no slot %s", name, ref)
		}
	}
}
