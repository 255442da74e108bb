package litmus

import (
	"fmt"
	"strings"

	"muster/internal/axiom/flow"
)

// A Graph is an execution in words: where each read has its value from, and in which order
// the writes of each word are.
type Graph struct {
	Reads     []GraphRead      `json:"reads"`
	Coherence []GraphCoherence `json:"coherence"`
}

// A GraphRead is a read, and the write that it reads from.
type GraphRead struct {
	Thread string `json:"thread"`
	Line   int    `json:"line"`
	Text   string `json:"text"`
	Value  uint32 `json:"value"`
	// From is the thread of the write, empty for the initial value.
	From     string `json:"from,omitempty"`
	FromLine int    `json:"from_line,omitempty"`
	FromText string `json:"from_text,omitempty"`
}

// A GraphCoherence is the order of a location's writes. Whole says that it orders all of
// them: others race.
type GraphCoherence struct {
	Location string       `json:"location"`
	Writes   []GraphWrite `json:"writes"`
	Whole    bool         `json:"whole"`
}

// A GraphWrite is a write of an order.
type GraphWrite struct {
	Thread string `json:"thread"`
	Line   int    `json:"line"`
	Text   string `json:"text"`
	Value  uint32 `json:"value"`
}

// graph tells an execution.
func (t *Test) graph(e *flow.Execution) *Graph {
	g := &Graph{}
	at := func(thread, pc int) *Instr {
		h := &t.Threads[thread]
		return &h.Code[pc-len(h.Init)]
	}
	for _, r := range e.Reads() {
		in := at(r.Thread, r.PC)
		x := GraphRead{Thread: t.Threads[r.Thread].Name, Line: in.Line, Text: in.Text, Value: r.Value}
		if r.From >= 0 {
			w := at(r.From, r.FromPC)
			x.From, x.FromLine, x.FromText = t.Threads[r.From].Name, w.Line, w.Text
		}
		g.Reads = append(g.Reads, x)
	}
	for word := range t.Words {
		list, whole := e.Coherence(word)
		if len(list) < 2 {
			continue
		}
		c := GraphCoherence{Location: t.Names[word], Whole: whole}
		for _, w := range list {
			in := at(w.Thread, w.PC)
			c.Writes = append(c.Writes, GraphWrite{t.Threads[w.Thread].Name, in.Line, in.Text, w.Value})
		}
		g.Coherence = append(g.Coherence, c)
	}
	return g
}

// Lines tells the execution, one line a fact.
func (g *Graph) Lines() (lines []string) {
	for _, r := range g.Reads {
		from := "initially"
		if r.From != "" {
			from = fmt.Sprintf("by %s, line %d: %s", r.From, r.FromLine, r.FromText)
		}
		lines = append(lines, fmt.Sprintf("%s, line %d: %s reads %d, written %s", r.Thread, r.Line, r.Text, int32(r.Value), from))
	}
	for _, c := range g.Coherence {
		var parts []string
		for _, w := range c.Writes {
			parts = append(parts, fmt.Sprintf("%d by %s, line %d", int32(w.Value), w.Thread, w.Line))
		}
		by := ", then "
		if !c.Whole {
			by = ", in no order with some other: "
		}
		lines = append(lines, c.Location+" is written "+strings.Join(parts, by))
	}
	return lines
}
