//go:build unix

package main

import (
	"os"
	"runtime/debug"
	"syscall"
)

// abortOnCrash makes a fatal error (out of memory, stack overflow, a fault in the
// runtime) end the process by SIGABRT, without a core file unless GOTRACEBACK asks for
// one.
func abortOnCrash() {
	if os.Getenv("GOTRACEBACK") != "crash" {
		_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
	}
	debug.SetTraceback("crash")
}
