package mbarriertest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/examples/stuck"
	"muster/mbarrier"
	"muster/mbarrier/mbarriertest"
)

// TestReport holds the reports of all mistakes to what their fields promise.
func TestReport(t *testing.T) {
	for _, m := range stuck.All {
		t.Run(m.Name, func(t *testing.T) {
			r := mbarriertest.Record(t, func(*testing.T) { m.Run() })
			holds(t, r)
			var b bytes.Buffer
			if err := r.WriteJSON(&b); err != nil {
				t.Fatal(err)
			}
			var back mbarriertest.Report
			if err := json.Unmarshal(b.Bytes(), &back); err != nil {
				t.Fatal(err)
			}
			var again bytes.Buffer
			if err := back.WriteJSON(&again); err != nil || !bytes.Equal(again.Bytes(), b.Bytes()) {
				t.Errorf("read and written again it differs: %v", err)
			}
			holds(t, shown(t, r))
		})
	}
}

// holds checks that all numbers lead somewhere, and that the history is one.
func holds(t *testing.T, r *mbarriertest.Report) {
	t.Helper()
	in := func(what string, i, n int) {
		t.Helper()
		if i < -1 || i >= n {
			t.Errorf("%s is %d of %d", what, i, n)
		}
	}
	goroutine := func(i int) { t.Helper(); in("a goroutine", i, len(r.Goroutines)) }
	barrier := func(i int) { t.Helper(); in("a barrier", i, len(r.Barriers)) }
	place := func(i int) { t.Helper(); in("a place", i, len(r.Places)) }
	if r.Format != mbarriertest.Format || len(r.Words) == 0 {
		t.Errorf("format %q, words %q", r.Format, r.Words)
	}
	for _, b := range r.Barriers {
		place(b.Made)
	}
	for _, g := range r.Goroutines {
		place(g.Place)
		place(g.Started)
		place(g.At)
		in("a group", g.Group, len(r.Groups))
		if g.Waits != nil {
			barrier(g.Waits.Barrier)
			place(g.Waits.Place)
		}
	}
	for _, g := range r.Groups {
		goroutine(g.First)
	}
	for _, d := range r.Debts {
		goroutine(d.Goroutine)
		barrier(d.Barrier)
	}
	for _, c := range r.Circles {
		for i := range c.Goroutines {
			goroutine(c.Goroutines[i])
			barrier(c.Barriers[i])
			if w := r.Goroutines[c.Goroutines[i]].Waits; w == nil || w.Barrier != c.Barriers[i] {
				t.Errorf("goroutine %d of a circle does not wait at barrier %d", c.Goroutines[i], c.Barriers[i])
			}
		}
	}
	for _, n := range r.Notes {
		goroutine(n.Goroutine)
		barrier(n.Barrier)
	}
	last := 0
	after := map[int]mbarriertest.State{}
	for _, s := range r.History {
		goroutine(s.Goroutine)
		barrier(s.Barrier)
		place(s.Place)
		if s.Step <= last {
			t.Errorf("step %d follows step %d", s.Step, last)
		}
		last = s.Step
		before, ok := after[s.Barrier]
		after[s.Barrier] = s.After
		if !ok || s.Kind == "made" || r.Left.Goroutines > 0 { // a page leaves out steps of goroutines that it does not show
			continue
		}
		want := before
		want.Pending -= s.Arrivals
		want.Expected -= s.Drops
		want.Tx += s.Bytes
		if s.Completes {
			want.Phase++
			want.Pending = want.Expected
		}
		if s.After != want {
			t.Errorf("step %d (%s) leads from %v to %v, and should to %v", s.Step, s.Kind, before, s.After, want)
		}
	}
	if last > r.Steps || len(r.History)+r.Left.Steps != r.Steps {
		t.Errorf("%d steps, %d of them kept, %d left out, the last one %d", r.Steps, len(r.History), r.Left.Steps, last)
	}
}

// shown reads the report that a page has.
func shown(t *testing.T, r *mbarriertest.Report) *mbarriertest.Report {
	t.Helper()
	var page bytes.Buffer
	if err := r.WritePage(&page); err != nil {
		t.Fatal(err)
	}
	_, data, ok := strings.Cut(page.String(), `id="report">`)
	data, rest, end := strings.Cut(data, "</script>")
	if !ok || !end || strings.Count(rest, "</script>") != 1 {
		t.Fatal("the page has not two scripts")
	}
	if page.Len() > 4<<20 {
		t.Errorf("the page has %d bytes", page.Len())
	}
	var back mbarriertest.Report
	if err := json.Unmarshal([]byte(data), &back); err != nil {
		t.Fatal(err)
	}
	return &back
}

// TestOperations: each operation is a step, with its kind and its method.
func TestOperations(t *testing.T) {
	r := mbarriertest.Record(t, func(*testing.T) {
		b := mbarrier.New(2)
		b.ExpectTx(8)
		token := b.ArriveTx(1, 8)
		for range 3 {
			b.TryWait(token)
		}
		b.CompleteTx(16)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		b.WaitContext(ctx, token)
		b.ArriveAndDrop()
		b.Wait(token)
		b.TryWaitParity(0)
		p := mbarrier.NewPipeline(1, 1, 1)
		producer := p.Producer()
		producer.Acquire(ctx)
		producer.Commit()
		producer.Quit()
		func() {
			defer func() { _ = recover() }()
			b.ArriveN(2)
		}()
	})
	var got []string
	for _, s := range r.History {
		got = append(got, s.Kind+" "+s.Op)
	}
	want := []string{
		"made New", "bytes ExpectTx", "arrives ArriveTx", "tests TryWait", "bytes CompleteTx", "waits WaitContext", "gives up WaitContext",
		"drops ArriveAndDrop", "passes Wait", "tests TryWaitParity", "made NewPipeline", "made NewPipeline", "passes Producer.Acquire", "arrives Producer.Commit", "drops Producer.Quit", "panics ArriveN",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("steps\n%s\nwanted\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if r.Failure != "" || r.Words[0] != "The test has ended well." {
		t.Errorf("%q, %q", r.Failure, r.Words)
	}
	if s := r.History[3]; s.Times != 3 || s.True {
		t.Errorf("three tests are %+v", s)
	}
	holds(t, r)
}

// TestHostile: names are cut, and data of no size or of a large one makes a bounded report and page.
func TestHostile(t *testing.T) {
	many := 10_000
	if testing.Short() {
		many = 1000 // the race detector has room for 8,128
	}
	long := strings.Repeat("<script>é\n", 100_000)
	for name, run := range map[string]func(){
		"no barriers": func() { <-make(chan bool) },
		"nothing":     func() {},
		"a long name": func() {
			b := mbarrier.New(2, mbarrier.WithName(long))
			mbarriertest.Name(long)
			b.ArriveAndWait()
		},
		"bytes that are no text": func() {
			b := mbarrier.New(2, mbarrier.WithName("\xff\xfe\x00</script>\u2028\u202e"))
			mbarriertest.Name("\xff</script>")
			b.ArriveAndWait()
		},
		"many goroutines": func() {
			b := mbarrier.New(many + 1)
			for range many {
				go b.ArriveAndWait()
			}
			b.WaitParity(0)
		},
		"more goroutines than are kept": func() {
			b := mbarrier.New(1)
			for range 25_000 {
				var wg sync.WaitGroup
				wg.Go(b.ArriveAndWait)
				wg.Wait()
			}
			b.WaitParity(0)
		},
		"more barriers than are kept": func() {
			for range 25_000 {
				mbarrier.New(1).Arrive()
			}
			mbarrier.New(1).WaitParity(0)
		},
		"a long history": func() {
			b := mbarrier.New(1, mbarrier.WithName("b"))
			other := mbarrier.New(1, mbarrier.WithName("other"))
			go func() {
				mbarriertest.Name("early")
				other.Arrive()
				b.WaitParity(0)
				<-make(chan bool)
			}()
			time.Sleep(time.Nanosecond) // of the bubble: until all are blocked
			for range 50_000 {
				b.ArriveAndWait()
			}
			other.WaitParity(1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := mbarriertest.Record(t, func(*testing.T) { run() })
			holds(t, r)
			holds(t, shown(t, r))
			if name == "no barriers" && !strings.Contains(strings.Join(r.Words, "\n"), `Goroutine "the test" is blocked at report_test.go:`) {
				t.Errorf("it does not say where the test is blocked: %q", r.Words)
			}
			var b bytes.Buffer
			if err := r.WriteJSON(&b); err != nil {
				t.Fatal(err)
			}
			if b.Len() > 32<<20 {
				t.Errorf("the report has %d bytes", b.Len())
			}
			if name == "a long history" && (len(r.Debts) != 1 || r.Debts[0].Known != mbarriertest.FromHistory) {
				t.Errorf("an arrival long ago is forgotten: %+v", r.Debts)
			}
		})
	}
}

// TestNameOutside: outside of a test of this package Name does nothing.
func TestNameOutside(t *testing.T) {
	mbarriertest.Name("nobody")
	if err := (&mbarriertest.Report{}).WritePage(io.Discard); err != nil {
		t.Error(err)
	}
}
