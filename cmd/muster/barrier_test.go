package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// barrier runs the command with a script on standard input.
func barrier(stdin string, args ...string) (code int, out, errs string) {
	var o, e bytes.Buffer
	code = doMain(append([]string{"barrier"}, args...), strings.NewReader(stdin), &o, &e)
	return code, o.String(), e.String()
}

const oneArrival = `init bar 1
----
bar 0x7ffff800001ffffe  phase 0 (parity 0): pending 1 of 1, tx 0

a: arrive bar
----
bar 0xfffff800001ffffe  phase 1 (parity 1): pending 1 of 1, tx 0
  phase 0 is complete

end
----
nobody waits
`

func TestBarrierPrints(t *testing.T) {
	if code, out, errs := barrier("init bar 1\na: arrive bar\n", "-"); code != 0 || out != oneArrival || errs != "" {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
	if code, out, errs := barrier("", "-"); code != 0 || out != "" || errs != "" {
		t.Errorf("an empty script: exit %d\n%s%s", code, out, errs)
	}
}

func TestBarrierFinds(t *testing.T) {
	code, out, _ := barrier("init bar 1\na: wait bar parity 0\n", "-")
	if code != 1 || !strings.Contains(out, "error[never-completes]: a wait that nothing left to run can end\n") {
		t.Errorf("a hang: exit %d\n%s", code, out)
	}
	code, out, _ = barrier("init bar 1\na: arrive bar 2\n", "--explain", "-")
	if code != 1 || !strings.Contains(out, "\narrivals-excess (error): ") || !strings.Contains(out, "Mend the count") {
		t.Errorf("a fault: exit %d\n%s", code, out)
	}
	code, out, _ = barrier("init bar 1\na: arrive bar\na: arrive bar\n", "-")
	if code != 0 || !strings.Contains(out, "warning[unobserved-phase]") {
		t.Errorf("a warning is no error: exit %d\n%s", code, out)
	}
}

func TestBarrierCompares(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s.txt")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write(oneArrival)
	if code, out, errs := barrier("", file); code != 0 || out != oneArrival || errs != file+": as expected\n" {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
	write(strings.ReplaceAll(oneArrival, "pending 1", "pending 7"))
	if code, out, _ := barrier("", file); code != 1 || !strings.Contains(out, "s.txt:3: output differs\n  init bar 1\n- bar") || strings.Count(out, "\n+ ") != 2 {
		t.Errorf("exit %d\n%s", code, out)
	}
	if code, out, errs := barrier("", "--update", file); code != 0 || out+errs != "" {
		t.Errorf("--update: exit %d\n%s%s", code, out, errs)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != oneArrival {
		t.Errorf("--update wrote, %v\n%s", err, text)
	}
	if code, out, _ := barrier(oneArrival, "--update", "-"); code != 0 || out != oneArrival {
		t.Errorf("--update -: exit %d\n%s", code, out)
	}
}

func TestBarrierBadInput(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s.txt")
	if err := os.WriteFile(file, []byte("init bar 1\na: arive bar\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	code, out, errs := barrier("", file)
	if want := "muster: " + file + ":2:4: no command \"arive\"\na: arive bar\n   ^\n"; code != 2 || out != "" || errs != want {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
	if code, out, errs := barrier("", file+".missing"); code != 2 || out != "" || strings.Count(errs, "\n") != 1 {
		t.Errorf("no such file: exit %d\n%s%s", code, out, errs)
	}
	if code, _, errs := barrier("arrive bar", "-"); code != 2 || errs != "muster: -:1:8: no line here initializes a barrier \"bar\"\n" {
		t.Errorf("exit %d\n%s", code, errs)
	}
}
