package ptx_test

import (
	"math"
	"testing"

	"muster/ptx"
)

// constant parses one constant expression as an operand.
func constant(t *testing.T, text string) (ptx.Operand, error) {
	t.Helper()
	m, err := ptx.Parse("e", []byte(".version 9.0\n.target sm_90\n.global .b64 x = "+text+";\n"))
	if err != nil {
		return nil, err
	}
	roundTrip(t, m)
	return m.Items[0].(*ptx.Var).Init.Expr, nil
}

// TestIntegerExpressions checks values and signedness by ISA 4.5.5.
func TestIntegerExpressions(t *testing.T) {
	s := func(v int64) ptx.Int { return ptx.Int{Bits: uint64(v)} }
	u := func(v uint64) ptx.Int { return ptx.Int{Bits: v, Unsigned: true} }
	for text, want := range map[string]ptx.Int{
		"42": s(42), "0x2a": s(42), "0X2A": s(42), "052": s(42), "0b101010": s(42), "42U": u(42), "0x1234U": u(0x1234),
		"0": s(0), "0xfabc123400000000": u(0xfabc123400000000), "18446744073709551615": u(math.MaxUint64),
		"9223372036854775807": s(math.MaxInt64), "9223372036854775808": u(1 << 63), "-9223372036854775808": u(1 << 63),
		"+123": s(123), "-1": s(-1), "-(-42)": s(42), "-1U": u(math.MaxUint64), "!5": s(0), "!0": s(1), "!!7U": s(1),
		"~0": u(math.MaxUint64), "~5U": u(^uint64(5)),
		"2+3*4": s(14), "(2+3)*4": s(20), "10-4-3": s(3), "100/7/2": s(7), "7%4": s(3), "-7/2": s(-3),
		"-7/2U": u((1<<64 - 7) / 2), "-7%4": s(1), // remainder takes its operands as unsigned
		"1<<4": s(16), "1<<64": s(0), "-8>>1": s(-4), "-8>>70": s(-1), "0x8000000000000000>>63": u(1),
		"6&3": s(2), "6|3": s(7), "6^3": s(5), "6&3U": u(2), "1|2&3^1": s(3),
		"1&&0": s(0), "2&&3": s(1), "0||0": s(0), "0||9": s(1), "3==3": s(1), "3!=3": s(0),
		"-1<1": s(1), "-1<1U": s(0), "2<=2": s(1), "3>=4": s(0), "3>2": s(1), "1<2==1": s(1),
		"1?2:3": s(2), "0?2:3": s(3), "1?2:3U": u(2), "0?1:0?2:3": s(3), "1+1?5:6": s(5),
		"(.u64)-1": u(math.MaxUint64), "(.s64)0xffffffffffffffff": s(-1), "(.s64)5U+1": s(6),
		"WARP_SZ": s(32), "WARP_SZ*2-1": s(63), "5%3": s(2), "5 %3": s(2), "5% 3": s(2),
		"(.s64)9223372036854775808": s(math.MinInt64), "0xFF00(0x1234)": s(0x12), "0xFF(1000+546)": s(0x0a),
		"- - 3": s(3), "1.5<2.5": s(1), "1.0==1.0": s(1), "2.0!=2.0": s(0), "1.0>=2.0": s(0), "1.0>2.0": s(0), "1.0<=2.0": s(1),
	} {
		got, err := constant(t, text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if got != ptx.Operand(want) {
			t.Errorf("%s = %#v, want %#v", text, got, want)
		}
	}
}

func TestFloatExpressions(t *testing.T) {
	d := func(v float64) ptx.Float { return ptx.Float{Bits: math.Float64bits(v), Size: 64} }
	for text, want := range map[string]ptx.Float{
		"1.5": d(1.5), ".5": d(.5), "5.": d(5), "1e9": d(1e9), "1.5e-3": d(1.5e-3), "1E+2": d(100), ".25e1": d(2.5),
		"0d3FF0000000000000": d(1), "0D4000000000000000": d(2), "0f3F800000": {Bits: 0x3f800000, Size: 32},
		"0F7fc00001": {Bits: 0x7fc00001, Size: 32}, "-0f3F800000": {Bits: 0xbf800000, Size: 32},
		"0d7FF8000000000123": {Bits: 0x7ff8000000000123, Size: 64},
		"-1.5":               d(-1.5), "1.0+2.0*3.0": d(7), "1.0/4.0": d(.25), "3.0-.5": d(2.5), "1?1.0:2.0": d(1), "-0.0": d(math.Copysign(0, -1)),
	} {
		got, err := constant(t, text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if got != ptx.Operand(want) {
			t.Errorf("%s = %#v, want %#v", text, got, want)
		}
	}
}

// TestAddressExpressions checks trees over names by how they print.
func TestAddressExpressions(t *testing.T) {
	for text, want := range map[string]string{
		"a": "a", "a+4": "a+4", "a+2*2": "a+4", "generic(a)": "generic(a)", "generic(a)+8": "generic(a)+8",
		"0xff(a)": "0xFF(a)", "0xFF00(generic(a)+4)": "0xFF00(generic(a)+4)", "(a)": "a", "a-(b-c)": "a-(b-c)", "a-b-c": "a-b-c",
		"-a": "-a", "~(a+b)": "~(a+b)", "(.s64)a": "(.s64)a", "(.u64)(a+1)": "(.u64)(a+1)",
		"1?a:b": "a", "a+-1": "a+-1", "addr_mode_0 = clamp_to_edge": "addr_mode_0 = clamp_to_edge",
	} {
		got, err := constant(t, text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if s := ptx.FormatOperand(got); s != want {
			t.Errorf("%s prints as %s, want %s", text, s, want)
		}
	}
}

func TestBadExpressions(t *testing.T) {
	for text, want := range map[string]string{
		"1/0": "division by zero", "5%0": "division by zero", "1.0<<2.0": `operator "<<" needs integers`, "~1.0": "operator '~' needs an integer",
		"99999999999999999999": "integer \"99999999999999999999\" does not fit 64 bits", "09": `malformed integer "09"`,
		"0x": `malformed integer "0x"`, "0b12": `malformed integer "0b12"`, "12ab": `malformed integer "12ab"`,
		"0f3F80": `malformed float "0f3F80": 0f takes 8 hexadecimal digits`, "1e999": `float "1e999" is out of range`,
		"1+1.0": `operator "+" over a float and another operand`, "0f3F800000+0f3F800000": "single-precision constants (0f…) take no part in expressions",
		"(a+1)*2": `operator "*" over an address`, "a&b": `operator "&" over an address`, "!+a": "operator '!' needs an integer",
		"(.s64)1.0": "a float has no casts", "1.0?1:2": "the condition is no constant integer", "1?1:2.0": "a conditional over an integer and a float",
		"0xF0(a)": "mask 0xF0 is not one byte", "(1": `expected ')' to close an expression, found ";"`, "1+": `expected an operand, found ";"`,
		"5(a)": "mask 5 is not one byte", ".x": `expected an operand, found ".x"`, "\"s\"": `expected an operand, found "\"s\""`,
	} {
		_, err := constant(t, text)
		if err == nil {
			t.Errorf("%s: no error, want %s", text, want)
		} else if got := err.(*ptx.Error).Msg; got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
