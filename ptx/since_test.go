package ptx

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// lenient are the rows where ptxas 13.0 differs from the ISA. The table follows the
// ISA.
var lenient = map[string]string{
	"cp.async":                 "ptxas takes .shared::cta before PTX 7.8 (ISA 9.7.9.25.3.1)",
	"cvt.f16x2.f8x2":           "PTX 7.8 is for sm_90; sm_89, which is asked first, came with 8.1 (ISA 9.7.9.21)",
	"cvt.f8x2.f16x2":           "as cvt.f16x2.f8x2",
	"cvt.f8x2.f32":             "as cvt.f16x2.f8x2",
	"fence":                    "ptxas takes .acquire and .release before PTX 8.6 and sm_90 (ISA 9.7.13.4)",
	"mma.f8f6f4":               "ptxas takes e4m3 and e5m2 on sm_100f too, and for PTX 8.6 (ISA 9.7.14.5.14)",
	"mma.sp.f8f6f4":            "as mma.f8f6f4 (ISA 9.7.14.6.3)",
	"nanosleep":                "ptxas takes it before PTX 6.3 (ISA 9.7.19.2)",
	"st.async.scope":           "ptxas takes .cluster before PTX 8.7 (ISA 9.7.9.12)",
	"tcgen05.ld.red":           "sm_101a is sm_110a since PTX 9.0, and ptxas has forgotten it (ISA 9.7.16.8.3)",
	"tcgen05.ld.red.int":       "as tcgen05.ld.red",
	"tcgen05.ld.red.split":     "as tcgen05.ld.red",
	"tcgen05.ld.red.int.split": "as tcgen05.ld.red",
}

// TestNeeds compares what instructions need with what ptxas asks for them.
func TestNeeds(t *testing.T) {
	data, err := os.ReadFile("testdata/since.txt")
	if err != nil {
		t.Fatal(err)
	}
	count, differ := 0, map[string]bool{}
	for line := range strings.Lines(string(data)) {
		if line[0] == '#' {
			continue
		}
		count++
		words := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 3)
		in := instOf(t, words[2])
		if in.Form == nil {
			t.Errorf("%s: %s", words[2], Explain(in))
			continue
		}
		v, sm := in.Needs()
		switch agree := sameVersion(v, words[0]) && sameTarget(sm, words[1]); {
		case !agree && lenient[in.Form.Name] == "":
			t.Errorf("%s needs PTX %d.%d and sm_%d%s; ptxas asks for %s and sm_%s", words[2], v.Major, v.Minor, sm.Number, sm.Suffix, words[0], words[1])
		case !agree:
			differ[in.Form.Name] = true
		}
	}
	for row, why := range lenient {
		if !differ[row] {
			t.Errorf("%s does not differ any more: %s", row, why)
		}
	}
	if count < 2000 {
		t.Errorf("only %d lines", count)
	}
}

// sameVersion compares with an answer: "7.8", or "4.0-" for 4.0 or older.
func sameVersion(v Version, answer string) bool {
	var a Version
	fmt.Sscanf(answer, "%d.%d", &a.Major, &a.Minor)
	return v == a || strings.HasSuffix(answer, "-") && v.Before(a)
}

// sameTarget compares with an answer: "90", "50-" (sm_50 or older), "100a,103a".
func sameTarget(sm SM, answer string) bool {
	first, _, _ := strings.Cut(answer, ",")
	a := parseSM(answer, strings.TrimSuffix(first, "-"))
	return sm == a || strings.HasSuffix(answer, "-") && sm.Number < a.Number
}

// TestSpecials finds special registers and their components.
func TestSpecials(t *testing.T) {
	for name, want := range map[string]string{
		"%tid": "v4.u32", "%tid.x": "u32", "%tid.w": "u32", "%clock64": "u64", "%is_explicit_cluster": "pred", "%envreg31": "b32",
		"%tid.": "", "%tid.q": "", "%tid.xy": "", "%clock.x": "", "%envreg32": "", "%r1": "",
	} {
		s, ok := LookupSpecial(name)
		if ok != (want != "") || ok && s.Type != want {
			t.Errorf("%s: %q, %v", name, s.Type, ok)
		}
	}
}
