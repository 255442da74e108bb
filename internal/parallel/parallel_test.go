package parallel

import (
	"strings"
	"sync/atomic"
	"testing"
)

func TestEach(t *testing.T) {
	for _, jobs := range []int{0, 1, 3, 100} {
		var came [50]atomic.Int64
		Each(jobs, len(came), func(i int) { came[i].Add(1) })
		for i := range came {
			if n := came[i].Load(); n != 1 {
				t.Errorf("%d jobs: %d was called %d times", jobs, i, n)
			}
		}
	}
	Each(2, 0, func(int) { t.Error("called") })
}

func TestPanic(t *testing.T) {
	defer func() {
		p, ok := recover().(*Panic)
		if !ok || p.Error() != "BUG: seven" || !strings.Contains(string(p.Stack), "TestPanic") {
			t.Errorf("%+v", p)
		}
	}()
	Each(2, 1, func(int) { // a panic of an inner call passes on as it is
		Each(3, 50, func(i int) {
			if i == 7 {
				panic("BUG: seven")
			}
		})
	})
	t.Error("no panic")
}
