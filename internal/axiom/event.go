package axiom

import "math/bits"

// An event is a node of a candidate execution.
type event struct {
	thread, op int // thread -1: the initial write of a location
	kind       kind
	sem        Sem
	scope      Scope
	// For an access: its effect, location and proxy.
	read, write, rmw bool
	strong           bool
	async            bool // by the asynchronous proxy
	viaMap           bool // through the tensormap proxy
	loc              Loc
	gran             uint8 // mask of 4-byte words of the cell
	alias            int
	issue            int // for an asynchronous operation's access its issue, else -1
	bar, home        int
}

type kind uint8

const (
	access kind = iota
	fence
	sharedFence
	proxyFence
	aliasFence
	mapRelease
	mapAcquire
	arrive // at a barrier of any kind
	pass
	mbarArrive
	mbarWait
	issued
	groupWait
)

// A set is a set of events, by index.
type set uint64

const maxEvents = 64

func (s set) has(i int) bool { return s>>uint(i)&1 != 0 }

// each calls f with the members.
func (s set) each(f func(i int)) {
	for ; s != 0; s &= s - 1 {
		f(bits.TrailingZeros64(uint64(s)))
	}
}

// A relation holds each event's successors.
type relation []set

func (r relation) add(a, b int) { r[a] |= 1 << uint(b) }

// close makes r transitive and reports whether it is acyclic.
func (r relation) close() bool {
	for k := range r {
		for i := range r {
			if r[i].has(k) {
				r[i] |= r[k]
			}
		}
	}
	for i := range r {
		if r[i].has(i) {
			return false
		}
	}
	return true
}

func (r relation) clone() relation { return append(relation(nil), r...) }
