package history

import (
	"testing"
	"testing/synctest"
)

func TestParseHead(t *testing.T) {
	for line, want := range map[string]Head{
		"goroutine 18 [running]:":                                                         {"18", "running", "", ""},
		"goroutine 7 [sync.Cond.Wait (durable), synctest bubble 5]:":                      {"7", "sync.Cond.Wait (durable)", "5", ""},
		"goroutine 7 [chan receive, 3 minutes, locked to thread]:":                        {"7", "chan receive", "", ""},
		`goroutine 7 [select, synctest bubble 12 labels:{"name": "producer", "x": "]"}]:`: {"7", "select", "12", `"name": "producer", "x": "]"`},
		"goroutine 7 gp=0xc0 m=nil [chan send (durable), 2 minutes, synctest bubble 3]:":  {"7", "chan send (durable)", "3", ""},
		"": {}, "goroutine": {}, "goroutine 9": {ID: "9"}, "panic: x": {},
	} {
		if got := ParseHead(line); got != want {
			t.Errorf("%q is %+v, wanted %+v", line, got, want)
		}
	}
	if got := label(`"a": "b", "name": "producer"`); got != "producer" {
		t.Errorf("the label is %q", got)
	}
}

// TestSelf holds the runtime to the form that ParseHead reads: without it goroutines have no bubble.
func TestSelf(t *testing.T) {
	if h := Self(); h.ID == "" || h.Bubble != "" || h.State != "running" {
		t.Errorf("outside of a bubble: %+v", h)
	}
	synctest.Test(t, func(t *testing.T) {
		if h := Self(); h.ID == "" || h.Bubble == "" || h.State != "running" {
			t.Errorf("in a bubble: %+v", h)
		}
	})
}

func TestCreator(t *testing.T) {
	stack := "goroutine 5 [running]:\na.f()\n\t/src/a.go:3 +0x1\ncreated by x.com/b.(*T).Go in goroutine 1\n\t/src/b.go:17 +0x277"
	if got, want := Creator(stack), (Place{"x.com/b.(*T).Go", "/src/b.go", 17}); got != want {
		t.Errorf("%+v, wanted %+v", got, want)
	}
	for _, none := range []string{"", "goroutine 5 [running]:", "x\ncreated by sync.(*WaitGroup).Go in goroutine 3\n\t/usr/waitgroup.go:2 +0x1"} {
		if got := Creator(none); got != (Place{}) {
			t.Errorf("%q: %+v", none, got)
		}
	}
	if got := At("\tC:/src/b.go:17 +0x277"); got.File != "C:/src/b.go" || got.Line != 17 {
		t.Errorf("%+v", got)
	}
}

// TestLog: the oldest steps give way, and what they left stays.
func TestLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Log
		Open(&l, "the test")
		defer Close(&l)
		if Mine() != &l {
			t.Error("the log is not the bubble's")
		}
		first := l.Make("first", nil, State{Pending: 1, Expected: 1}, Site{1})
		busy := l.Make("busy", nil, State{Pending: 1, Expected: 1}, Site{1})
		l.Add(Event{Kind: Changed, Barrier: first, Count: 1, After: State{1, 1, 1, 0}}, Site{2})
		for i := range MaxEvents + 5 {
			l.Add(Event{Kind: Changed, Barrier: busy, Count: 1, Phase: int64(i), After: State{int64(i + 1), 1, 1, 0}}, Site{3})
		}
		for range 3 {
			l.Add(Event{Kind: Polled, Barrier: busy}, Site{4})
		}
		r := l.Record()
		if len(r.Events) != MaxEvents || r.Steps != MaxEvents+9 || r.Events[0].Step != 10 {
			t.Errorf("%d events of %d steps, the first is %d", len(r.Events), r.Steps, r.Events[0].Step)
		}
		if last := r.Events[MaxEvents-1]; last.Times != 3 || last.After.Phase != MaxEvents+5 {
			t.Errorf("the last is %+v", last)
		}
		if len(r.Arrivals) != 1 || r.Arrivals[0].Barrier != first {
			t.Errorf("arrivals before: %+v", r.Arrivals)
		}
		if r.Barriers[first].State.Phase != 1 || r.Goroutines[0].Label != "the test" {
			t.Errorf("%+v, %+v", r.Barriers[first], r.Goroutines)
		}
		Close(&l)
		if Mine() != nil || l.Add(Event{Barrier: busy}, Site{5}) != 0 {
			t.Error("a closed log goes on")
		}
	})
}

func TestCut(t *testing.T) {
	for in, want := range map[string]string{"abc": "abc", "abcd": "abc…", "aéé": "aé…", "\xffa": "\uFFFDa"} {
		if got := Cut(in, 3); got != want {
			t.Errorf("Cut(%q) is %q, wanted %q", in, got, want)
		}
	}
}
