package entry

import (
	"testing"

	"muster/ptx"
)

// TestParamsRefused: parameters that nobody can pass are refused in one line, with their place.
func TestParamsRefused(t *testing.T) {
	for _, c := range []struct{ params, want string }{
		{".param .b8 p[0]", "k.ptx:4:30: parameter p has no bytes: none can be passed"},
		{".param .b8 p[99999999999]", "k.ptx:4:30: parameter p has no size that fits"},
		{".param .b8 p[32764][32764]", "k.ptx:4:30: with parameter p there are 1073479696 bytes of parameters; a kernel has at most 32764"},
		{".param .b8 p[32764], .param .b8 q", "k.ptx:4:51: with parameter q there are 32765 bytes of parameters; a kernel has at most 32764"},
		{".param .b128 p", "k.ptx:4:32: parameter p of type .b128 cannot be passed"},
		{".param .pred p", "k.ptx:4:32: parameter p of type .pred cannot be passed"},
		{".param .texref p", "k.ptx:4:34: parameter p of type .texref cannot be passed"},
		{".param .u32 p, .param .u64 p", "k.ptx:4:46: two parameters are called p"},
	} {
		m, err := ptx.Parse("k.ptx", []byte(".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k("+c.params+") { ret; }\n"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParamsOf(m, m.Items[0].(*ptx.Func)); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.params, err, c.want)
		}
	}
}
