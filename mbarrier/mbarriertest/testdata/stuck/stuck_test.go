// Package stuck has tests that fail, each as tests do that use package mbarriertest. Tests of that package run
// them with go test, with -artifacts and without.
package stuck

import (
	"testing"

	"muster/examples/stuck"
	"muster/mbarrier"
	"muster/mbarrier/mbarriertest"
)

func TestRing(t *testing.T) {
	mbarriertest.Test(t, func(t *testing.T) { stuck.SkippedRelease() })
}

// TestCheck fails by a check, with its barriers in order.
func TestCheck(t *testing.T) {
	mbarriertest.Test(t, func(t *testing.T) {
		b := mbarrier.New(1, mbarrier.WithName("only"))
		b.ArriveAndWait()
		t.Fatal("the sum is wrong")
	})
}

// TestPanic ends in a panic of a goroutine, which ends the process.
func TestPanic(t *testing.T) {
	mbarriertest.Test(t, func(t *testing.T) {
		go stuck.TooMany()
		<-make(chan bool)
	})
}

// TestRecovered recovers from a panic and passes.
func TestRecovered(t *testing.T) {
	mbarriertest.Test(t, func(t *testing.T) {
		defer func() { _ = recover() }()
		stuck.TooMany()
	})
}
