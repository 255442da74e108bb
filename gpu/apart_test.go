package gpu

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

// TestApart: launches share a process until one hangs or faults; the next starts
// another, and each returns its own output.
func TestApart(t *testing.T) {
	open(t)
	var a Apart
	defer a.Close()
	var pid int
	say := func(n int, same bool) {
		t.Helper()
		r, err := a.Run(t.Context(), parse(t, fmt.Sprintf(`"kernel": "say", "grid": 1, "block": 1, "args": [{"u32": %d}]`, n)), Options{})
		if err != nil || string(r.Output) != fmt.Sprintf("%d\n", n) {
			t.Fatal(r, err)
		}
		if same != (pid == a.cmd.Process.Pid) {
			t.Error("the process is the same:", !same)
		}
		pid = a.cmd.Process.Pid
	}
	say(1, false)
	say(22, true)
	// A launch that the driver refuses does not end the process.
	if _, err := a.Run(t.Context(), parse(t, `"kernel": "empty", "grid": 1, "block": 1, "shared": 232448, "args": [null, null]`), Options{}); err == nil {
		t.Error("a launch without an argument ran")
	}
	say(3, true)
	var fault *Error
	if _, err := a.Run(t.Context(), parse(t, `"kernel": "fault", "grid": 1, "block": 1`), Options{}); !errors.As(err, &fault) || !fault.Fault() {
		t.Error(err)
	}
	say(4, false)
	spin := `"kernel": "spin", "grid": 1, "block": 1, "buffers": {"flag": {"type": "u32", "shape": [1]}}, "args": ["flag"]`
	var late *TimeoutError
	if _, err := a.Run(t.Context(), parse(t, spin), Options{Timeout: time.Second / 2}); !errors.As(err, &late) {
		t.Error(err)
	}
	say(5, false)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
	defer cancel()
	if _, err := a.Run(ctx, parse(t, spin), Options{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	say(6, false)
}

// TestApartWithoutGPU: a worker answers more than once, even if it reports that
// there is no GPU, or no such kernel; a cancelled context starts no worker.
func TestApartWithoutGPU(t *testing.T) {
	var a Apart
	f := parse(t, `"kernel": "none", "grid": 1, "block": 1`)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.Run(ctx, f, Options{}); !errors.Is(err, context.Canceled) || a.cmd != nil {
		t.Error(err)
	}
	_, first := a.Run(t.Context(), f, Options{})
	pid := a.cmd.Process.Pid
	_, second := a.Run(t.Context(), f, Options{})
	if first == nil || second == nil || first.Error() != second.Error() || a.cmd.Process.Pid != pid {
		t.Errorf("%v; %v", first, second)
	}
	// A worker that was killed in between gives an error, and is then replaced.
	if err := a.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	a.cmd.Process.Wait()
	if _, err := a.Run(t.Context(), f, Options{}); err == nil {
		t.Error("a dead worker answered")
	}
	if _, err := a.Run(t.Context(), f, Options{}); err == nil || err.Error() != first.Error() {
		t.Error(err)
	}
	a.Close()
	a.Close()
}
