package ptx

import (
	"maps"
	"slices"
	"strings"
)

// operandTypes are the register types that trials substitute for every operand; a
// register of type T is %T_1, %T_2, and so on.
var operandTypes = strings.Fields("b8 u8 s8 b16 u16 s16 f16 b32 u32 s32 f32 f16x2 b64 u64 s64 f64 b128 pred")

// operandLiterals are the literals that trials substitute for every operand that is
// read.
var operandLiterals = []Operand{Int{Bits: 7}, Int{Bits: ^uint64(6)}, Float{Bits: 0x3f800000, Size: 32}, Float{Bits: 0x3ff0000000000000, Size: 64}}

// operandTrials makes the instructions whose operands ptxas was asked about;
// testdata/operands.txt is a sample of them. For every row, with each of its types and
// some of its other modifiers, it puts a register of each type, and literals, in the
// place of each operand.
func operandTrials() []string {
	seen := map[string]bool{}
	for _, f := range forms {
		switch f.Op {
		case "bra", "brx", "call", "ret", "exit", "trap", "brkpt":
			continue
		}
		if !(Version{9, 0}).Before(f.Version) {
			f.operandTrials(seen)
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

func (f *Form) operandTrials(seen map[string]bool) {
	try := func(with ...string) {
		t := trial{f: f, with: with}
		make1 := func() *Inst {
			t.g = generator{}
			in := t.make()
			in.typed()
			return in
		}
		in := make1()
		if Match(in) != f {
			return
		}
		seen[in.String()] = true
		for i, b := range Bind(in) {
			if _, ok := b.X.(Name); !ok && !isMem(b.X) {
				continue
			}
			replace := func(x Operand) {
				in := make1()
				list := Bind(in)
				if m, ok := list[i].X.(*Mem); ok {
					m.Base = x
				} else {
					list[i].Set(x)
				}
				in.Form = nil
				if Match(in) == f {
					seen[in.String()] = true
				}
			}
			for _, typ := range operandTypes {
				replace(Name("%" + typ + "_7"))
			}
			if b.Arg.Role == Read {
				for _, l := range operandLiterals {
					replace(l)
				}
			}
		}
	}
	try()
	for _, s := range f.Slots {
		if strings.HasSuffix(s.Name, "type") || s.Name == "hint" || s.Name == "multicast" || s.Name == "cp_mask" || s.Name == "bool" || s.Name == "vec" || s.Name == "space" {
			for _, v := range s.some() {
				try(s.Name, v)
			}
		}
	}
	for _, a := range f.Operands {
		if a.Optional && a.When == "" || a.Pred != nil && a.Pred.Optional {
			try(a.Name, a.Name)
		}
	}
}

func isMem(x Operand) bool { _, ok := x.(*Mem); return ok }

// typed gives the registers of an instruction names that say their types.
func (in *Inst) typed() {
	for _, b := range Bind(in) {
		switch x := b.X.(type) {
		case Name:
			b.Set(typedName(x))
		case *Mem:
			if n, ok := x.Base.(Name); ok {
				x.Base = typedName(n)
			}
		}
	}
}

func typedName(n Name) Name {
	s := string(n)
	i := strings.IndexAny(s, "0123456789")
	if i < 0 || s[0] != '%' {
		return n
	}
	typ := map[string]string{"%p": "pred", "%rc": "b8", "%rs": "b16", "%r": "b32", "%rd": "b64", "%rq": "b128", "%f": "f32", "%fd": "f64"}[s[:i]]
	if typ == "" {
		return n
	}
	return Name("%" + typ + "_" + s[i:])
}
