// Package ops has a small kernel for every operation of package kernel. Each
// runs on the machine and, with the same arguments, on a GPU; what an H200 left
// in the buffers is kept in testdata, and the machine has to leave the same.
package ops

import "muster/kernel"

// A Case is one kernel with its arguments.
type Case struct {
	Name string   // unique: "mbarrier/arrive-drop"
	Uses []string // what of package kernel it shows: "Mbarrier.ArriveDrop"
	Make func() (*kernel.Call, error)
}

var cases []Case

// add is called from the files of this package, each for its operations.
func add(name string, uses []string, make func() (*kernel.Call, error)) {
	cases = append(cases, Case{name, uses, make})
}

// All gives every case, in the order of the files.
func All() []Case { return cases }
