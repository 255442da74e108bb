//go:build !unix

package main

// abortOnCrash does nothing where there are no signals.
func abortOnCrash() {}
