package main

import "testing"

// TestUntil: work that ends without a result says what it has done.
func TestUntil(t *testing.T) {
	w := &work{}
	if got := w.until(); got != "what was done until then cannot be told" {
		t.Error(got)
	}
	w.tell("2 schedules ran; exploration next")
	if got := w.until(); got != "there is no report; until then: 2 schedules ran; exploration next" {
		t.Error(got)
	}
}
