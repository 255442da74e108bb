package kernel

import "fmt"

// A kernel has at most so many instructions, labels and variables, and a function
// so many registers: 4 MiB of a GPU's code, and few enough that a loop of Go that
// does not end is told with its line, and is not the end of the machine's memory.
// Mistakes are kept up to a number too.
const (
	mostInsts    = 1 << 18
	mostRegs     = 1 << 18
	mostMistakes = 10_000
)

// fill says that the kernel takes no more: nothing is added from here on, and
// no further mistake is kept.
func (k *Kernel) fill(format string, args ...any) {
	if !k.refuses() {
		k.fail(format, args...)
		k.full = true
	}
}

// over reports what is added when Build has ended the kernel, once.
func (k *Kernel) over() bool {
	if k.ended {
		k.fill("Build has ended the kernel: nothing can be added")
	}
	return k.ended
}

// refuses tells whether the kernel is full. Build reports that; a loop of Go
// that goes on for as long again does not get there, and panics with it.
func (k *Kernel) refuses() bool {
	if k.full {
		if k.refused++; k.refused > mostInsts {
			k.refused = 0 // for who recovers
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

// few holds a number of registers to what a kernel can have.
func (k *Kernel) few(what string, n int) bool {
	if n < 0 || n > mostRegs {
		k.fail("%s of %d registers; they are 0 to %d", what, n, mostRegs)
		return false
	}
	return true
}
