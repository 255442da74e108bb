package diag

import "testing"

func TestLanes(t *testing.T) {
	for mask, want := range map[uint32]string{0: "", 1: "0", 0xffffffff: "0-31", 0x80000000: "31", 0x8000_0007: "0-2,31", 0b1011: "0-1,3"} {
		if got := Lanes(mask); got != want || LaneMask(got) != mask {
			t.Errorf("%#x is %q and back %#x, want %q", mask, got, LaneMask(got), want)
		}
	}
}

func TestShortName(t *testing.T) {
	for sym, want := range map[string]string{
		"slots": "slots", "_ZZ4ringE5slots": "slots", "_ZZ4ringPfS_iE5slots": "slots", "_ZZ4ringE5slots_0": "slots",
		"_ZZN2ns1fEvE3bar": "bar", "_ZN2ns3bufE": "buf", "_ZN2ns": "ns", "_ZZ": "_ZZ", "_ZN9": "_ZN9", "global_smem": "global_smem",
	} {
		if got := ShortName(sym); got != want {
			t.Errorf("%s: %s, want %s", sym, got, want)
		}
	}
}

// TestPrintable: what is printed is one line, and text that is printable stays as it is.
func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"k.cu": "k.cu", `C:\a "b"\é…`: `C:\a "b"\é…`, "a\nclean: b": `a\nclean: b`, "\x1b[31m": `\x1b[31m`, "a\u202eb": `a\u202eb`, "\xff\t": `\xff\t`,
	} {
		if got := Printable(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
