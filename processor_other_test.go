//go:build !unix

package muster_test

import "time"

var began = time.Now()

// processor is the time since the process began, where no better is at hand.
func processor() time.Duration { return time.Since(began) }
