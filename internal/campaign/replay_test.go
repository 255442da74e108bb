package campaign

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"muster/internal/machine"
	"muster/ptx"
)

var (
	goldenFile = flag.String("golden", "testdata/golden.gz", "golden data")
	full       = flag.Bool("full", false, "the golden data was packed with -full")
)

const inBase, outBase = 0x7f0000000000, 0x7f1000000000

// replay runs a case on the machine and gives its results.
func replay(c *Case, input []byte) ([]byte, error) {
	mod, err := ptx.Parse(c.Name, []byte(c.Source()))
	if err != nil {
		return nil, err
	}
	prog, err := machine.Decode(mod, c.Name)
	if err != nil {
		return nil, err
	}
	params := make([]byte, 16, 80)
	putBits(params, 8, inBase)
	putBits(params[8:], 8, outBase)
	if c.Blob {
		params = append(params, Blob()...)
	}
	out := make([]byte, c.OutSize())
	m, err := machine.New(machine.Config{
		Program: prog, Grid: [3]uint32{CTAs, 1, 1}, Block: [3]uint32{Block, 1, 1}, Cluster: [3]uint32{uint32(c.Cluster), 1, 1},
		Params: params, MaxInstrs: 1 << 20, Registers: prog.MaxRegs,
		Buffers: []machine.Buffer{{Name: "in", Base: inBase, Size: uint64(max(len(input), 16)), Data: input, Init: true}, {Name: "out", Base: outBase, Size: uint64(max(len(out), 16)), Init: true}},
	})
	if err != nil {
		return nil, err
	}
	if err := drive(m); err != nil {
		return nil, err
	}
	if !m.ReadGlobal(outBase, out) {
		return nil, fmt.Errorf("the output is not in one buffer")
	}
	return out, nil
}

// stopped is a run that ended before its end.
type stopped struct {
	*machine.Stop
	at string
}

func (s *stopped) Error() string { return fmt.Sprintf("stopped: %s (%s)", s.Msg, s.at) }

// unmodelled are the rows with cases that the machine does not execute: what
// reaches one makes a verdict incomplete.
var unmodelled = map[string]string{
	"discard": "leaves memory undefined",
}

// drive runs a machine to its end: each split in turn until it blocks.
func drive(m *machine.Machine) error {
	var at machine.Choice
	for {
		if s := m.Stopped(); s != nil {
			return &stopped{s, m.Program().Inst(s.PC).String()}
		}
		if c, ok := m.StartChoice(); ok {
			m.Step(c)
		} else if c, ok := m.Next(at); ok {
			m.Go(c, 1<<20)
			at = c
		} else if list := m.Enabled(nil); len(list) > 0 {
			m.Step(list[0])
		} else {
			break
		}
	}
	if !m.Done() {
		return fmt.Errorf("the run is stuck")
	}
	return nil
}

// golden reads the golden data.
func golden(t *testing.T, cases []Case) (string, map[string]*Record) {
	Full = *full
	f, err := os.Open(*goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	card, recs, err := ReadGolden(f, cases)
	if err != nil {
		t.Fatal(err)
	}
	return card, recs
}

// TestReplay runs every case that the card ran and compares.
func TestReplay(t *testing.T) {
	cases := Cases()
	_, recs := golden(t, cases)
	var (
		mu       sync.Mutex
		wg       sync.WaitGroup
		problems = map[string][]string{}
		ran      int
		lots     = make(chan []Case)
		worst    worstErrors
	)
	for range runtime.NumCPU() {
		wg.Go(func() {
			for lot := range lots {
				for i := range lot {
					c := &lot[i]
					rec := recs[c.Name]
					var wrong string
					switch {
					case rec == nil || rec.Refused != "":
						continue // TestList speaks of them
					case rec.Failed != "":
						wrong = "failed on the card: " + rec.Failed
					default:
						wrong = check(c, rec, &worst)
					}
					mu.Lock()
					ran++
					if wrong != "" {
						problems[c.Form] = append(problems[c.Form], c.Name+": "+c.Text+": "+wrong)
					}
					mu.Unlock()
				}
			}
		})
	}
	sent := 0
	for lot := range slices.Chunk(cases, 64) {
		if sent++; sent%10 == 1 || !testing.Short() {
			lots <- lot
		}
	}
	close(lots)
	wg.Wait()
	t.Logf("%d cases ran on the card; rows that the machine does not model: %v", ran, sortedKeys(unmodelled))
	worst.log(t)
	total := 0
	for _, form := range sortedKeys(problems) {
		list := problems[form]
		total += len(list)
		slices.Sort(list)
		t.Errorf("%s: %d cases differ, such as\n\t%s", form, len(list), strings.Join(list[:min(len(list), 3)], "\n\t"))
	}
	if total > 0 {
		t.Errorf("%d cases differ", total)
	}
}

func sortedKeys[V any](m map[string]V) []string {
	var list []string
	for k := range m {
		list = append(list, k)
	}
	slices.SortFunc(list, cmp.Compare)
	return list
}

// check compares a case with its record; "" if they agree.
func check(c *Case, rec *Record, worst *worstErrors) string {
	input := c.Input()
	if c.Fingerprint(input) != rec.Print {
		return "the generator has changed since the golden data was made"
	}
	out, err := replay(c, input)
	if why := unmodelled[c.Form]; why != "" {
		var s *stopped
		if !errors.As(err, &s) || s.Kind != machine.Unmodelled {
			return fmt.Sprintf("listed as not modelled (%s), but: %v", why, err)
		}
		return ""
	}
	if err != nil {
		return err.Error()
	}
	head, sums := c.Summary(out)
	if c.Approx != nil {
		return c.judge(input, out, rec.Head, worst)
	}
	if !bytes.Equal(head, rec.Head) {
		return c.difference(input, head, rec.Head)
	}
	for b, s := range sums {
		if s != rec.Sums[b] {
			return fmt.Sprintf("block %d has other results, of which only a hash is kept", b)
		}
	}
	return ""
}

// difference shows where the results first differ, with the operands.
func (c *Case) difference(input, got, want []byte) string {
	n, at := c.Keep(), 0
	var b strings.Builder
	count := 0
	for k, a := range c.Out {
		for i := range n {
			g, w := getBits(got[at+i*a.Size:], a.Size), getBits(want[at+i*a.Size:], a.Size)
			if g == w && bytes.Equal(got[at+i*a.Size:][:a.Size], want[at+i*a.Size:][:a.Size]) {
				continue
			}
			if count++; count > 3 {
				continue
			}
			fmt.Fprintf(&b, "\n\t\tthread %d, result %d: %#x, the card has %#x, of", i, k, g, w)
			for _, in := range c.In {
				fmt.Fprintf(&b, " %#x", getBits(input[in.Offset+i*in.Size:], in.Size))
			}
		}
		at += n * a.Size
	}
	return fmt.Sprintf("%d of %d results%s", count, n*len(c.Out), b.String())
}

// worstErrors are the largest errors of the approximate functions, where the
// ISA gives a bound, by row and unit.
type worstErrors struct {
	mu   sync.Mutex
	rows map[string]*worstError
}

type worstError struct {
	card, ours float64
	at         []uint64 // where the card has it
	bits       uint64
	n          int
}

// judge checks the results of an approximate function, the card's and ours.
func (c *Case) judge(input, ours, card []byte, worst *worstErrors) string {
	var b strings.Builder
	bad := 0
	a := c.Approx
	out := c.Out[0]
	elem := 8 * out.Size / a.Lanes
	for i := range threads {
		for l := range a.Lanes {
			part := func(v uint64) uint64 { return v >> (l * elem) & (1<<elem - 1) }
			if elem == 64 {
				part = func(v uint64) uint64 { return v }
			}
			var args []uint64
			for _, in := range c.In {
				args = append(args, part(getBits(input[in.Offset+i*in.Size:], in.Size)))
			}
			args = append(args, c.fixed...)
			o, h := part(getBits(ours[i*out.Size:], out.Size)), part(getBits(card[i*out.Size:], out.Size))
			vo, vh := a.Judge(args, o), a.Judge(args, h)
			worst.add(a, args, h, vo, vh)
			if vo.OK && vh.OK && (o == h || !vh.Exact) {
				continue
			}
			if bad++; bad <= 4 {
				fmt.Fprintf(&b, "\n\t\tthread %d, operands %#x: %#x (error %g), the card has %#x (error %g); bound %g %s", i, args, o, vo.Err, h, vh.Err, vh.Limit, vh.Unit)
			}
		}
	}
	if bad == 0 {
		return ""
	}
	return fmt.Sprintf("%d results%s", bad, b.String())
}

func (w *worstErrors) add(a *Approx, args []uint64, bits uint64, ours, card Verdict) {
	if card.Exact {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.rows == nil {
		w.rows = map[string]*worstError{}
	}
	key := fmt.Sprintf("%s.%s %s, bound %.4g", a.Row, a.Elem, card.Unit, card.Limit)
	e := w.rows[key]
	if e == nil {
		e = &worstError{}
		w.rows[key] = e
	}
	e.n++
	e.ours = max(e.ours, ours.Err)
	if card.Err > e.card || e.at == nil {
		e.card, e.at, e.bits = card.Err, args, bits
	}
}

func (w *worstErrors) log(t *testing.T) {
	for _, k := range sortedKeys(w.rows) {
		e := w.rows[k]
		t.Logf("%s: worst error of %d results: card %.4g (%#x gives %#x), ours %.4g", k, e.n, e.card, e.at, e.bits, e.ours)
	}
}
