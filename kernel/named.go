package kernel

import (
	"fmt"
	"strings"
)

// A CTA has sixteen barriers (ISA 9.7.13.1). Barrier 0 is the whole CTA's, the
// others are given out here: to groups that synchronize, and by name.

// A namedUse is one of the barriers 1 to 15 with who has it.
type namedUse struct {
	what string
	at   Place
}

type namedKey struct{}

// takeBarrier gives out the next barrier; 15 again if none is left, which is a
// mistake.
func (k *Kernel) takeBarrier(what string) int {
	used, _ := k.state[namedKey{}].([]namedUse)
	if len(used) == 15 {
		var list []string
		for i, u := range used {
			list = append(list, fmt.Sprintf("%d: %s at %s", i+1, u.what, u.at))
		}
		k.fail("%s needs a named barrier, and a CTA has 15 of them besides barrier 0: %s", what, strings.Join(list, "; "))
		return 15
	}
	k.state[namedKey{}] = append(used, namedUse{what, k.here()})
	return len(used) + 1
}

// groupBarrier gives the barrier of a group's Sync, the same for the same
// threads.
func (k *Kernel) groupBarrier(g Group) int {
	if id, ok := k.state[g].(int); ok {
		return id
	}
	id := k.takeBarrier("Sync of " + g.String())
	k.state[g] = id
	return id
}

// barrier emits a form of bar, with the number of threads where it is given.
func (k *Kernel) barrier(op string, id, threads int, rest ...any) {
	args := []any{id}
	if threads > 0 {
		args = append(args, threads)
	}
	k.Inst(op, append(args, rest...)...)
}
