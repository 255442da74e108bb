// Package kernel writes kernels in Go.
package kernel
