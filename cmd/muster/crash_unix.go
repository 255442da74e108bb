//go:build unix

package main

import (
	"os"
	"runtime/debug"
	"syscall"
)

// abortOnCrash has what kills the process (memory that the system does not give, a
// stack that overflows, a fault in the runtime) end it by SIGABRT, without a core
// file unless somebody asked for one.
func abortOnCrash() {
	if os.Getenv("GOTRACEBACK") != "crash" {
		_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
	}
	debug.SetTraceback("crash")
}
