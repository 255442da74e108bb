package kernel

import "fmt"

// Limits on a kernel's instructions, labels and variables, and on a function's registers:
// about 4 MiB of GPU code, and low enough that an infinite loop in Go is reported with
// its line before it exhausts memory. The number of recorded mistakes is limited too.
const (
	maxInsts    = 1 << 18
	maxRegs     = 1 << 18
	maxMistakes = 10_000
)

// fill marks the kernel as full: later additions and mistakes are dropped.
func (k *Kernel) fill(format string, args ...any) {
	if !k.refuses() {
		k.fail(format, args...)
		k.full = true
	}
}

// over reports additions after Build, once.
func (k *Kernel) over() bool {
	if k.ended {
		k.fill("Build has ended the kernel: nothing can be added")
	}
	return k.ended
}

// refuses reports whether the kernel is full. Build reports that as a mistake; a loop in
// Go that continues for as long again never reaches Build, and panics.
func (k *Kernel) refuses() bool {
	if k.full {
		if k.refused++; k.refused > maxInsts {
			k.refused = 0 // for a caller that recovers
			panic(fmt.Sprintf("kernel: a loop of Go does not end, at %s: %v", k.here(), k.errs[len(k.errs)-1]))
		}
	}
	return k.full
}

// missing reports a body that is nil.
func (k *Kernel) missing(what string, isNil bool) bool {
	if isNil {
		k.fail("%s: the body is nil; it is a function that writes what the kernel does there", what)
	}
	return isNil
}

// few checks a number of registers against the limit.
func (k *Kernel) few(what string, n int) bool {
	if n < 0 || n > maxRegs {
		k.fail("%s of %d registers; they are 0 to %d", what, n, maxRegs)
		return false
	}
	return true
}
