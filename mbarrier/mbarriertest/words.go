package mbarriertest

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
)

const (
	mostWords = 60
	mostNamed = 80 // letters of a name in a sentence
)

// group puts goroutines together that began at one place and stand at one place for one reason, so that ten
// thousand of them are one sentence. A goroutine of a circle stands alone.
func (b *builder) group() {
	alone := map[int]bool{}
	for _, c := range b.Circles {
		for _, g := range c.Goroutines {
			alone[g] = true
		}
	}
	owes := map[int]string{}
	for _, d := range b.Debts {
		if d.Goroutine >= 0 {
			owes[d.Goroutine] += fmt.Sprint(d.Barrier, d.Known, " ")
		}
	}
	type key struct {
		name, state, why string
		at, barrier, one int
		phase            int64
	}
	groups := map[key]int{}
	for i := range b.Goroutines {
		g := &b.Goroutines[i]
		name, _, _ := strings.Cut(g.Name, " #")
		k := key{name: name, state: g.State, why: owes[i], at: g.At, barrier: -1}
		if g.Waits != nil {
			k.barrier, k.phase = g.Waits.Barrier, g.Waits.Phase
		}
		if alone[i] {
			k.one = i + 1
		}
		n, ok := groups[k]
		if !ok {
			n = len(b.Groups)
			groups[k] = n
			b.Groups = append(b.Groups, Group{Name: name, First: i})
		}
		g.Group = n
		if b.Groups[n].Count++; b.Groups[n].Count == 1 {
			b.Groups[n].Name = g.Name
		} else {
			b.Groups[n].Name = name
		}
	}
}

// words says what the report says.
func (b *builder) words() {
	say := func(format string, args ...any) {
		if len(b.Words) < mostWords {
			b.Words = append(b.Words, fmt.Sprintf(format, args...))
		}
	}
	switch {
	case strings.HasPrefix(b.Failure, "deadlock: main"):
		say("The test has returned, and goroutines that it started wait for ever.")
	case strings.HasPrefix(b.Failure, "deadlock"):
		say("The test is stuck: every goroutine waits, and nothing that is left can wake one.")
	case b.Failure != "":
		say("The test has failed: %s", oneLine(b.Failure))
	default:
		say("The test has ended well.")
	}
	for _, c := range b.Circles {
		b.hints = append(b.hints, b.around(c))
		say("%s", b.around(c))
	}
	waits := 0
	for _, g := range b.Groups {
		if o := &b.Goroutines[g.First]; o.Waits != nil {
			waits += g.Count
			say("%s", b.waiting(g))
		}
	}
	if waits == 0 {
		say("No goroutine waits at a barrier.")
	}
	b.elsewhere(waits > 0, say)
	for _, n := range b.Notes {
		b.hints = append(b.hints, n.Text)
		say("%s", n.Text)
	}
	if len(b.Barriers) == 0 {
		say("The test made no barrier.")
	}
	if b.Left.Steps > 0 {
		say("The first %d of %d steps are not kept.", b.Left.Steps, b.Steps)
	}
}

// elsewhere tells of goroutines that are blocked, but not at a barrier. That the test waits for its goroutines
// says nothing where these wait.
func (b *builder) elsewhere(barriers bool, say func(string, ...any)) {
	for _, g := range b.Groups {
		o := &b.Goroutines[g.First]
		if o.State != "blocked" || barriers && o.Blocked == "sync.WaitGroup.Wait" {
			continue
		}
		subject := b.who(g.First) + " is"
		if g.Count > 1 {
			subject = fmt.Sprintf("%d goroutines %s are", g.Count, quote(g.Name))
		}
		say("%s blocked at %s, and not at a barrier: %s.", subject, b.at(o.At), oneLine(o.Blocked))
	}
}

// around tells a circle.
func (b *builder) around(c Circle) string {
	if len(c.Goroutines) == 1 {
		return fmt.Sprintf("%s waits for itself, at %s.", b.who(c.Goroutines[0]), b.bar(c.Barriers[0]))
	}
	var parts []string
	for i, g := range c.Goroutines {
		next := c.Goroutines[(i+1)%len(c.Goroutines)]
		parts = append(parts, fmt.Sprintf("%s waits at %s for %s", b.name(g), b.bar(c.Barriers[i]), b.name(next)))
		if i == 11 && len(c.Goroutines) > 13 {
			parts = append(parts, fmt.Sprintf("and so on, %d in all", len(c.Goroutines)))
			break
		}
	}
	text := "They wait for each other: " + strings.Join(parts, ", ") + "."
	if !c.Sure {
		text += " That is a guess where nothing shows who is to arrive."
	}
	return text
}

// waiting tells a group's wait, and who holds it up.
func (b *builder) waiting(g Group) string {
	o := &b.Goroutines[g.First]
	w, bar := o.Waits, &b.Barriers[o.Waits.Barrier]
	subject := b.who(g.First) + " waits"
	if g.Count > 1 {
		subject = fmt.Sprintf("%d goroutines %s wait", g.Count, quote(g.Name))
	}
	text := fmt.Sprintf("%s for phase %d of %s since step %d, at %s", subject, w.Phase, b.bar(w.Barrier), w.Since, b.at(w.Place))
	if bar.Phase != w.Phase {
		return text + ". That phase is complete: it is about to go on."
	}
	return text + ": " + b.missing(bar) + "." + b.debtors(w.Barrier)
}

func (b *builder) missing(bar *Barrier) string {
	var parts []string
	if bar.Pending > 0 {
		verb := "are"
		if bar.Pending == 1 {
			verb = "is"
		}
		parts = append(parts, fmt.Sprintf("%d of %s %s missing", bar.Pending, plural(bar.Expected, "arrival", "arrivals"), verb))
	}
	if bar.Tx > 0 {
		parts = append(parts, plural(bar.Tx, "byte has", "bytes have")+" not landed")
	} else if bar.Tx < 0 {
		parts = append(parts, plural(-bar.Tx, "byte has", "bytes have")+" landed that nobody expected")
	}
	if len(parts) == 0 {
		return "everyone has dropped"
	}
	return strings.Join(parts, ", and ")
}

func (b *builder) debtors(barrier int) string {
	var out strings.Builder
	n, more := 0, 0
	seen := map[int]bool{}
	for _, d := range b.Debts {
		if d.Barrier != barrier {
			continue
		}
		if d.Goroutine < 0 {
			fmt.Fprintf(&out, " Nobody is known to owe %s: %s.", map[string]string{"bytes": "them", "arrival": "one"}[d.What], d.Why)
			continue
		}
		g := b.Goroutines[d.Goroutine].Group
		if seen[g] {
			continue
		}
		seen[g] = true
		if n++; n > 4 {
			more++
			continue
		}
		who := b.name(d.Goroutine)
		if c := b.Groups[g].Count; c > 1 {
			who = fmt.Sprintf("one of %d goroutines %s", c, quote(b.Groups[g].Name))
		}
		verb := map[Known]string{FromRest: "may owe"}[d.Known]
		if verb == "" {
			verb = "owes"
		}
		fmt.Fprintf(&out, " %s %s %s: %s.", who, verb, map[string]string{"bytes": "them", "arrival": "one"}[d.What], d.Why)
	}
	if more > 0 {
		fmt.Fprintf(&out, " So do %s.", plural(more, "other", "others"))
	}
	return out.String()
}

// who names a goroutine in a sentence.
func (b *builder) who(g int) string {
	if g < 0 {
		return "A goroutine"
	}
	return "Goroutine " + b.name(g)
}

func (b *builder) name(g int) string { return quote(b.Goroutines[g].Name) }
func (b *builder) bar(i int) string  { return quote(b.Barriers[i].Name) }
func (b *builder) at(place int) string {
	if place < 0 {
		return "an unknown place"
	}
	p := b.Places[place]
	return fmt.Sprintf("%s:%d", oneLine(filepath.Base(p.File)), p.Line)
}

// quote writes a name so that no letter of it does anything.
func quote(s string) string {
	r := []rune(s)
	if len(r) > mostNamed {
		s = string(r[:mostNamed]) + "…"
	}
	return strconv.Quote(s)
}

// oneLine takes out what is no printable letter.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, s)
}

func plural(n int, one, more string) string {
	if n != 1 {
		one = more
	}
	return fmt.Sprintf("%d %s", n, one)
}
