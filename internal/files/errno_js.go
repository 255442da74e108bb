package files

import (
	"strings"
	"syscall"
)

// An errno is an error of Go's system for browsers, in the words that systems have elsewhere:
// those of js begin with a capital letter.
type errno struct{ syscall.Errno }

func (e errno) Error() string {
	text := e.Errno.Error()
	return strings.ToLower(text[:1]) + text[1:]
}

func (e errno) Unwrap() error { return e.Errno }

func worded(err error) error {
	if e, ok := err.(syscall.Errno); ok {
		return errno{e}
	}
	return err
}
