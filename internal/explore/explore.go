// Package explore decides which schedules of a launch to run.
//
// A schedule is a policy, a seed, and a prefix of explicit choices: the run
// takes the prefix's choices and then follows the policy to its end. That
// makes it a small value that can be written down, and the same schedule
// always makes the same run. The policies of this package are deterministic
// functions of the machine's state, their own seed, and how many choices were
// taken.
//
//   - earliest: every milestone of an asynchronous operation as soon as it can
//     happen; a split runs for as long as it can.
//   - latest: milestones only when no split can run.
//   - round-robin: one visible operation of each split in turn, and one
//     milestone a round.
//   - random: any enabled choice, by a seeded generator.
//   - pct: the thread with the highest random priority; some priorities change on
//     the way (pct.go).
//   - delay: some steps, by a seeded generator, only when nothing else can move
//     (delay.go).
//
// Run only runs the machine, which it takes as a value, and knows no rules: judging
// the run is left to others.
package explore

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"muster/internal/machine"
)

// A Policy is a way to choose.
type Policy uint8

const (
	Earliest Policy = iota
	Latest
	RoundRobin
	Random
	PCT
	Delay
)

var policyNames = [...]string{Earliest: "earliest", Latest: "latest", RoundRobin: "round-robin", Random: "random", PCT: "pct", Delay: "delay"}

// sampled reports whether a policy needs a seed.
func (p Policy) sampled() bool { return p >= Random }

func (p Policy) String() string { return policyNames[p] }

// A Schedule says how a run chooses.
type Schedule struct {
	Policy Policy
	Seed   uint64 // for Random, PCT and Delay
	Depth  int    // for PCT: priorities change Depth-1 times
	Steps  int    // for PCT: within so many steps
	Prefix []machine.Choice
}

// Picks reports whether a schedule has accesses that take older versions of their words, so that
// machines and judges have to keep them.
func (s Schedule) Picks() bool {
	return slices.ContainsFunc(s.Prefix, func(c machine.Choice) bool { return c.Kind == machine.Pick })
}

// ready prepares a machine that is about to begin for the schedule.
func (s Schedule) ready(m *machine.Machine) {
	if s.Picks() {
		m.KeepVersions()
	}
}

// String gives the schedule as it is written down: "latest", "random:7",
// "pct:7:3:400" with seed, depth and steps, "r0.1.0*12,m3/earliest", where
// r0.1.0*12 is r0.1.0 twelve times.
func (s Schedule) String() string {
	var b strings.Builder
	for i := 0; i < len(s.Prefix); {
		n := 1
		for i+n < len(s.Prefix) && s.Prefix[i+n] == s.Prefix[i] {
			n++
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(s.Prefix[i].String())
		if n > 1 {
			fmt.Fprintf(&b, "*%d", n)
		}
		i += n
	}
	if len(s.Prefix) > 0 {
		b.WriteByte('/')
	}
	b.WriteString(s.Policy.String())
	if s.Policy.sampled() {
		fmt.Fprintf(&b, ":%d", s.Seed)
	}
	if s.Policy == PCT {
		fmt.Fprintf(&b, ":%d:%d", s.Depth, s.Steps)
	}
	return b.String()
}

// Parse reads what String writes.
func Parse(text string) (Schedule, error) {
	var s Schedule
	rest := text
	if i := strings.LastIndexByte(text, '/'); i >= 0 {
		for _, f := range strings.Split(text[:i], ",") {
			c, n, err := parseRepeated(f)
			if err == nil && n > maxChoices-len(s.Prefix) {
				err = fmt.Errorf("more than %d choices", maxChoices)
			}
			if err != nil {
				return s, fmt.Errorf("schedule %q: %w", brief(text), err)
			}
			for range n {
				s.Prefix = append(s.Prefix, c)
			}
		}
		rest = text[i+1:]
	}
	name, numbers, has := strings.Cut(rest, ":")
	for p, n := range policyNames {
		if n == name {
			s.Policy = Policy(p)
			if err := s.parseNumbers(numbers, has); err != nil {
				return s, fmt.Errorf("schedule %q: %w", brief(text), err)
			}
			return s, nil
		}
	}
	return s, fmt.Errorf("schedule %q: no policy %q; there are %s", brief(text), brief(name), strings.Join(policyNames[:], ", "))
}

// parseNumbers reads what follows the name of a policy.
func (s *Schedule) parseNumbers(text string, has bool) error {
	if has != s.Policy.sampled() {
		return errors.New("a seed belongs to random, delay and pct, as in random:7, delay:7 and pct:7:3:400")
	}
	if !has {
		return nil
	}
	seed, rest, more := strings.Cut(text, ":")
	v, err := strconv.ParseUint(seed, 10, 64)
	if err != nil {
		return errors.New("seed must be a number")
	}
	s.Seed = v
	if more != (s.Policy == PCT) {
		return errors.New("after the seed pct has a depth and steps, as in pct:7:3:400, and the others have nothing")
	}
	if !more {
		return nil
	}
	depth, steps, _ := strings.Cut(rest, ":")
	if s.Depth, err = strconv.Atoi(depth); err != nil || s.Depth < 1 || s.Depth > maxDepth {
		return fmt.Errorf("depth must be a number from 1 to %d", maxDepth)
	}
	if s.Steps, err = strconv.Atoi(steps); err != nil || s.Steps < 1 || s.Steps > maxSteps {
		return fmt.Errorf("steps must be a number from 1 to %d", maxSteps)
	}
	return nil
}

// maxDepth and maxSteps bound what a schedule of PCT may ask for.
const (
	maxDepth = 1 << 10
	maxSteps = 1 << 30
)

// maxChoices bounds a prefix, so that a short text cannot take much memory.
const maxChoices = 1 << 22

// parseRepeated reads a choice, "r0.1.0", or several alike, "r0.1.0*12".
func parseRepeated(text string) (machine.Choice, int, error) {
	one, times, many := strings.Cut(text, "*")
	c, err := machine.ParseChoice(one)
	if err != nil || !many {
		return c, 1, err
	}
	n, err := strconv.Atoi(times)
	if err != nil || n < 1 || strconv.Itoa(n) != times {
		return c, 0, fmt.Errorf("%q: how often must be a number from 1 on", text)
	}
	return c, n, nil
}

// brief cuts a text that an error quotes.
func brief(text string) string {
	if len(text) > 80 {
		return text[:40] + "…" + text[len(text)-30:]
	}
	return text
}

// Handful is what a check runs by default: the extremes of asynchrony, a fair
// interleaving, and random ones.
func Handful(random int) []Schedule {
	s := []Schedule{{Policy: Earliest}, {Policy: Latest}, {Policy: RoundRobin}}
	for i := range random {
		s = append(s, Schedule{Policy: Random, Seed: uint64(i + 1)})
	}
	return s
}

// quantum bounds how many visible operations a split runs before another split may,
// under the policies that let it run on: a loop that polls memory in a way that the
// machine does not recognize as waiting must not starve what it waits for.
const quantum = 4096

// Run runs m to its end under s. It has m ask stop now and then, at most some
// milliseconds apart, and ends the run early, returning false, when stop
// reports true.
func Run(m *machine.Machine, s Schedule, stop func() bool) bool {
	return run(runner{m: m}, s, stop)
}

// RunAlike is Run, but the first CTA's turns begin as those of any other do, so that
// clusters that do the same take the same steps. In Run its first warp's turn comes last.
func RunAlike(m *machine.Machine, s Schedule, stop func() bool) bool {
	return run(runner{m: m, at: machine.Choice{CTA: -1}}, s, stop)
}

func run(r runner, s Schedule, stop func() bool) bool {
	m := r.m
	m.StopWhen(stop)
	s.ready(m)
	for _, c := range s.Prefix {
		m.Step(c)
	}
	r.obey(s)
	return r.follow(s.Policy, nil)
}

// follow runs the machine to its end under a policy, as Run does, unless stop, which
// is asked between steps, ends it before.
func (r *runner) follow(p Policy, stop func() bool) bool {
	m := r.m
	asked, before := 0, int64(0)
	for n := 0; m.Stopped() == nil && !m.Done() && !r.over; n++ {
		// A step may be one operation or thousands.
		if w, _ := m.Instrs(); n-asked >= 1024 || w-before >= 4*quantum {
			if asked, before = n, w; stop != nil && stop() {
				return false
			}
		}
		if !r.step(p) {
			break
		}
	}
	if !r.over {
		m.Conclude()
	}
	return !interrupted(m)
}

// interrupted reports whether stop ended the run (machine.StopWhen).
func interrupted(m *machine.Machine) bool {
	s := m.Stopped()
	return s != nil && s.Kind == machine.Interrupted
}

type runner struct {
	m   *machine.Machine
	rng uint64
	at  machine.Choice // the split that ran last
	buf []machine.Choice
	log func(machine.Choice) // told of every step, unless nil
	// over, which log may set, ends the run.
	over    bool
	sampler sampler // of PCT and Delay
}

// A sampler picks one of the choices that Ways offers, by its index.
type sampler interface {
	pick(m *machine.Machine, ways []machine.Choice) int
}

// obey prepares for the policy of s.
func (r *runner) obey(s Schedule) {
	r.rng = s.Seed
	switch s.Policy {
	case PCT:
		r.sampler = newPCT(s)
	case Delay:
		r.sampler = newDelay(s)
	}
}

// step takes one choice, or a run of choices of one split. It reports whether
// anything was left to choose.
func (r *runner) step(p Policy) bool {
	switch p {
	case Earliest:
		return r.earliest()
	case Latest:
		return r.latest()
	case RoundRobin:
		return r.roundRobin()
	case Random:
		return r.random()
	}
	return r.sample()
}

func (r *runner) earliest() bool {
	for r.m.Stopped() == nil { // a milestone may fault
		c, ok := r.m.MilestoneChoice()
		if !ok {
			break
		}
		r.take(c)
	}
	return r.split(quantum, true) || r.last()
}

func (r *runner) latest() bool {
	if r.split(quantum, false) {
		return true
	}
	if c, ok := r.m.StartChoice(); ok {
		r.take(c)
		return true
	}
	if c, ok := r.m.MilestoneChoice(); ok {
		r.take(c)
		return true
	}
	return r.last()
}

func (r *runner) roundRobin() bool {
	before := r.at
	ran := r.split(1, true)
	if !ran || wrapped(before, r.at) {
		if c, ok := r.m.MilestoneChoice(); ok {
			r.take(c)
			ran = true
		}
		if c, ok := r.m.StartChoice(); ok {
			r.take(c)
			ran = true
		}
	}
	return ran || r.last()
}

// wrapped reports whether the turn came round from b to a.
func wrapped(b, a machine.Choice) bool {
	if a.CTA != b.CTA {
		return a.CTA < b.CTA
	}
	if a.Warp != b.Warp {
		return a.Warp < b.Warp
	}
	return a.Lane <= b.Lane
}

// split lets the next split that can run take up to n visible operations; with
// yield it stops early when an operation was issued.
func (r *runner) split(n int, yield bool) bool {
	c, ok := r.m.Next(r.at)
	if !ok {
		return false
	}
	r.at = c
	switch {
	case r.log != nil:
		r.goLogged(c, n, yield)
	case yield:
		r.m.GoUntilIssue(c, n)
	default:
		r.m.Go(c, n)
	}
	return true
}

// goLogged is Go, or GoUntilIssue, one step at a time.
func (r *runner) goLogged(c machine.Choice, n int, yield bool) {
	before := r.m.Issued()
	for ; n > 0 && !r.over && !(yield && r.m.Issued() != before); n-- {
		e, ok := r.m.Holder(c)
		if !ok {
			return
		}
		r.take(e)
	}
}

// take takes one choice.
func (r *runner) take(c machine.Choice) {
	before, _ := r.m.Instrs()
	r.m.Step(c)
	if r.log == nil {
		return
	}
	// A GiveUp of a split that has meanwhile merged with another one is no step.
	if after, _ := r.m.Instrs(); c.Kind != machine.GiveUp || after != before {
		r.log(c)
	}
}

// last takes what is left when no split can run and no milestone can happen: the
// start of a cluster, or a split that gives up its wait.
func (r *runner) last() bool {
	r.buf = r.m.Enabled(r.buf[:0])
	if len(r.buf) == 0 {
		return false
	}
	for _, c := range r.buf {
		r.take(c)
		if c.Kind != machine.GiveUp {
			break
		}
		if r.m.Stopped() != nil {
			break
		}
		if _, ok := r.m.Next(r.at); ok {
			break
		}
	}
	return true
}

func (r *runner) random() bool {
	r.buf = r.m.Enabled(r.buf[:0])
	if len(r.buf) == 0 {
		return false
	}
	z := mix(r.rng)
	r.rng += 0x9e3779b97f4a7c15
	r.take(r.buf[z%uint64(len(r.buf))])
	return true
}

// sample takes the choice that the sampler picks.
func (r *runner) sample() bool {
	r.buf = r.m.Ways(r.buf[:0])
	if len(r.buf) == 0 {
		return r.last()
	}
	r.take(r.buf[r.sampler.pick(r.m, r.buf)])
	return true
}
