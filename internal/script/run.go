package script

import (
	"fmt"
	"slices"
	"strings"

	"muster/mbarrier"
)

// A Result is a run of a script.
type Result struct {
	// Text is the script with its actual output: a script that is its own test.
	Text string
	// Kinds are the errors found, by their names in the catalogue, each once.
	Kinds []string
	Moves []Move // the commands, one by one, if the script asks for them
	diffs []difference
}

// Run runs the script. The error is an *[Error]: a line that is invalid in its state.
func (s *Script) Run() (*Result, error) {
	r := &runner{s: s}
	r.reset()
	res := &Result{}
	var b strings.Builder
	for i := range s.groups {
		g := &s.groups[i]
		r.out = nil
		lines := g.commands()
		for j := range g.cmds {
			said := len(r.out)
			if err := r.command(&g.cmds[j]); err != nil {
				return nil, err
			}
			if s.Moves {
				res.Moves = append(res.Moves, r.move(lines[j], r.out[said:]))
			}
		}
		if g.checked && !slices.Equal(g.want, r.out) {
			res.diffs = append(res.diffs, difference{g.line, g.lines, g.want, r.out})
		}
		write(&b, i > 0, g.lead, g.lines, r.out)
	}
	if !s.ended && len(s.groups) > 0 {
		r.finish(s, res, &b)
	}
	if len(s.tail) > 0 && slices.ContainsFunc(s.tail, func(l string) bool { return l != "" }) {
		b.WriteString("\n" + strings.Trim(strings.Join(s.tail, "\n"), "\n") + "\n")
	}
	res.Text, res.Kinds = b.String(), r.kinds
	return res, nil
}

// finish runs an `end` if the script has none. If it reports anything, a script that checks its
// output must contain `end`.
func (r *runner) finish(s *Script, res *Result, b *strings.Builder) {
	r.out = nil
	quiet := len(r.waits) == 0 && len(r.flights) == 0
	r.end(nil)
	if !quiet && s.Checked() {
		last := s.groups[len(s.groups)-1]
		res.diffs = append(res.diffs, difference{last.cmds[len(last.cmds)-1].line + 1, []string{"end"}, nil, r.out})
	}
	if !quiet || !s.Checked() {
		write(b, true, nil, []string{"end"}, r.out)
	}
}

// write adds one group to the text.
func write(b *strings.Builder, gap bool, lead, lines, out []string) {
	lead = trimBlank(lead)
	if gap {
		b.WriteByte('\n')
	}
	for _, l := range slices.Concat(lead, lines, []string{dashes}, out) {
		b.WriteString(l + "\n")
	}
}

// trimBlank removes blank lines from the start, and a list of only blank lines entirely.
func trimBlank(lines []string) []string {
	for len(lines) > 0 && lines[0] == "" {
		lines = lines[1:]
	}
	return lines
}

// A runner is the state of a run: plain values.
type runner struct {
	s       *Script
	cur     *command
	out     []string
	kinds   []string
	bars    map[string]*barrier
	tokens  map[string]token
	waits   []*waiter
	flights []*flight
	dead    bool // the launch has ended
}

type barrier struct {
	name    string
	state   mbarrier.State
	live    bool
	seen    uint64 // phases below this were seen complete by a wait or test
	unseen  bool   // unobserved-phase was reported
	dropped bool
}

type token struct {
	value      mbarrier.Token
	bar        *barrier
	phase      uint64
	noComplete bool
}

type waiter struct {
	actor  string
	bar    *barrier
	parity uint32
	phase  uint64 // the phase whose completion wakes it
	once   bool   // a single try_wait
	lapped bool   // it was meant for an earlier phase
	line   int
}

// A flight is an asynchronous copy that has not landed.
type flight struct {
	name   string
	bar    *barrier
	bytes  uint32
	async  bool // cp.async, not a bulk copy
	noinc  bool
	phase  uint64 // in which it was issued
	warned bool
}

func (r *runner) reset() {
	r.bars, r.tokens, r.waits, r.flights, r.dead = map[string]*barrier{}, map[string]token{}, nil, nil, false
}

func (r *runner) say(format string, a ...any) { r.out = append(r.out, fmt.Sprintf(format, a...)) }

func (r *runner) errorf(w word, format string, a ...any) error {
	col := w.col
	if col == 0 {
		col = r.cur.verb.col
	}
	return &Error{r.s.name, r.cur.line, col, fmt.Sprintf(format, a...)}
}

func (r *runner) command(c *command) error {
	r.cur = c
	f := forms[c.verb.text]
	if r.dead && c.verb.text != "new" && c.verb.text != "end" {
		r.say("nothing runs: the launch has ended")
		return nil
	}
	for _, w := range r.waits {
		if c.actor.text == w.actor {
			return r.errorf(c.actor, "%s waits for phase %d of %s since line %d", w.actor, w.phase, w.bar.name, w.line)
		}
	}
	if f.step != nil {
		return r.step(c, f)
	}
	return f.run(r, c)
}

// barrier returns the barrier of a command, or nil if its word is not initialized.
func (r *runner) barrier(c *command) *barrier {
	b := r.bars[c.bar]
	if b == nil {
		r.find("use-before-init", "%s is no barrier yet: whatever its memory holds is counted on", c.bar)
		return nil
	}
	if !b.live {
		r.find("use-after-inval", "%s was invalidated; an H200 goes on from the word that is in memory", c.bar)
	}
	return b
}

func (r *runner) ledger(b *barrier) {
	r.say("%s %#016x  %s", b.name, uint64(b.state.Word), b.state)
}

func (r *runner) init(c *command) error {
	w, res := mbarrier.Init(c.n)
	b := r.bars[c.bar]
	if b == nil {
		b = &barrier{name: c.bar}
		r.bars[c.bar] = b
	}
	again := b.live
	b.state, b.live, b.seen, b.unseen = mbarrier.State{Word: w}, true, 0, false
	r.ledger(b)
	if again {
		r.find("reinit-without-inval", "%s was live: its arrivals, its bytes and its phase are forgotten", c.bar)
	}
	r.undefined(b, c.n, res)
	r.wake(b)
	return nil
}

func (r *runner) inval(c *command) error {
	b := r.barrier(c)
	if b == nil {
		return nil
	}
	b.state.Word, b.live = b.state.Word.Inval(), false
	r.say("%s %#016x  is what memory holds; it is no barrier any more", b.name, uint64(b.state.Word))
	return nil
}

func (r *runner) show(c *command) error {
	if b := r.barrier(c); b != nil {
		r.ledger(b)
	}
	return nil
}

// step makes a transition of the word.
func (r *runner) step(c *command, f form) error {
	b := r.barrier(c)
	if b == nil {
		return nil
	}
	before := b.state
	w, res := f.step(b.state.Word, c.n)
	if !r.advance(b, w, res) {
		r.undefined(b, c.n, res)
		return nil
	}
	if c.token.text != "" {
		r.tokens[c.token.text] = token{res.Token, b, before.Phase, strings.HasSuffix(c.verb.text, ".noComplete")}
		r.say("%s = %#016x, of phase %d", c.token.text, uint64(res.Token), before.Phase)
	}
	if f.arrive {
		r.unobserved(b, before.Phase)
	}
	r.undefined(b, c.n, res)
	r.settle(b, before.Phase, res)
	return nil
}

// advance applies a transition and shows the word; false means that the launch has ended.
func (r *runner) advance(b *barrier, w mbarrier.Word, res mbarrier.Result) bool {
	if res.Fault != mbarrier.NoFault {
		r.ledger(b)
		r.say("  the launch ends here, unspecified launch failure: %s", res.Fault)
		r.dead = true
		return false
	}
	b.state = b.state.Next(w, res)
	r.ledger(b)
	return true
}

// settle reports the effects of a transition: a phase's end, and the actors that wake.
func (r *runner) settle(b *barrier, phase uint64, res mbarrier.Result) {
	if res.Completed {
		r.say("  phase %d is complete", phase)
		r.leftBehind(b, phase)
	}
	r.wake(b)
}

func (r *runner) launch(*command) error {
	r.reset()
	r.say("nothing is initialized, nobody waits")
	return nil
}
