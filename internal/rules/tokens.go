package rules

import (
	"cmp"
	"fmt"
	"slices"

	"muster/internal/machine"
	"muster/mbarrier"
)

// A token encodes the parity and the arrivals of its phase: the same 64 bits
// recur two phases later. The ledger keeps what the bits do not show: for each
// token value the phase that returned it last, and for each thread its own last
// eight tokens.

// remember records the token that an arrival returned.
func (l *ledger) remember(ev *machine.Event) {
	t := made{token: ev.Mbar.Token, phase: ev.Mbar.Phase, pc: ev.PC, set: true}
	if l.tokens == nil {
		l.tokens = map[uint64]made{}
		l.own = map[agentID]*[8]made{}
	}
	l.tokens[t.token] = t
	id := agentID{ev.CTA, ev.Warp, ev.Lane}
	o := l.own[id]
	if o == nil {
		o = new([8]made)
		l.own[id] = o
	}
	copy(o[1:], o[:7])
	o[0] = t
}

// origin returns the arrival that returned the token of some lanes: one of theirs
// if there is one, else any thread's.
func (l *ledger) origin(token uint64, cta, warp int32, mask uint32) made {
	for lane := range int8(32) {
		o := l.own[agentID{cta, warp, lane}]
		if mask>>uint(lane)&1 == 0 || o == nil {
			continue
		}
		for i := range o {
			if o[i].set && o[i].token == token {
				return o[i]
			}
		}
	}
	return l.tokens[token]
}

// tokenWait checks the token of a wait while phase open is open.
func (j *Judge) tokenWait(l *ledger, ev *machine.Event, open int64) {
	site := wordSite("waits", ev)
	switch t := ev.Token; {
	case t.Known && t.Bar == ev.Mbar.Bar:
		j.stale(l, made{phase: t.Phase, pc: t.PC, set: true}, site, open)
		return
	case t.Known:
		j.foreignToken(ev)
		return
	}
	t := l.origin(ev.Mbar.Token, ev.CTA, ev.Warp, ev.Mask)
	switch {
	case t.set && t.phase < open-1:
	case !t.set && ev.Mbar.Undefined&mbarrier.TokenStale != 0, !t.set:
	default:
		return
	}
	j.stale(l, t, site, open)
}

// stale reports a token that is neither of the open phase nor of the one before.
func (j *Judge) stale(l *ledger, t made, site Site, open int64) {
	pc := int32(-1)
	if t.set {
		pc = t.pc
	}
	j.note(staleToken, pc, site.PC, func() Finding {
		arrival := site
		arrival.Role, arrival.PC = "arrives", pc
		f := Finding{
			Headline: fmt.Sprintf("a wait at %s uses a token of phase %d while phase %d is open", barName(l.bar), t.phase, open),
			Sites:    []Site{arrival, site},
			Missing:  "the token must be of the open phase or of the one before it",
			Fix:      "wait with the token that the latest arrival of this round returned, or wait by parity",
			Ledger:   []string{l.line()},
		}
		if !t.set {
			f.Headline = fmt.Sprintf("a wait at %s uses a token that no arrival on it returned", barName(l.bar))
			f.Sites = []Site{site}
		}
		return f
	})
}

// foreignToken reports a test with another barrier's token.
func (j *Judge) foreignToken(ev *machine.Event) {
	t := ev.Token
	j.note(staleToken, t.PC, ev.PC, func() Finding {
		arrival := eventSite("arrives", ev)
		arrival.PC, arrival.Mem, arrival.Addr, arrival.Len = t.PC, t.Bar.Mem, t.Bar.Addr, 8
		of := barName(t.Bar)
		if t.Bar.Mem == ev.Mbar.Bar.Mem && t.Bar.Addr == ev.Mbar.Bar.Addr {
			of = "an mbarrier that was at the same place before it was initialized anew"
		}
		return Finding{
			Headline: fmt.Sprintf("%s by %s: a wait at %s uses a token of %s", j.at(ev.PC), wordAgent(ev), barName(ev.Mbar.Bar), of),
			Sites:    []Site{arrival, wordSite("waits", ev)},
			Missing:  "the token must come from an arrival at the mbarrier that is waited for",
			Fix:      "wait with the token that the arrival at this mbarrier returned, or wait by parity",
		}
	})
}

// sortedWords returns the places of all barriers, in order.
func sortedWords(words map[word]*ledger) []word {
	all := make([]word, 0, len(words))
	for at := range words {
		all = append(all, at)
	}
	slices.SortFunc(all, func(a, b word) int { return cmp.Or(cmp.Compare(a.mem, b.mem), cmp.Compare(a.addr, b.addr)) })
	return all
}
