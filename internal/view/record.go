package view

import (
	"compress/gzip"
	"slices"

	"muster/internal/machine"
	"muster/internal/resolve"
	"muster/internal/timeline"
	"muster/internal/trial"
)

// A Subject is a run to be recorded.
type Subject struct {
	// Start makes a machine that is about to start, watched by an observer.
	Start func(machine.Observer) *machine.Machine
	Names *resolve.Resolver
	Run   []machine.Choice
	Sites []timeline.Site
	Roles []string // of the finding's sites
	About timeline.Run
	// Ended says of a machine that has taken the run's last step how the run ended, or what
	// kept it from going on to its end; one of them is empty.
	Ended func(*machine.Machine) (end, cut string)
	// Live: registers and memory of every step will be asked for, so that snapshots are kept.
	Live bool
}

// Bounds of what is recorded. A page in a file holds windows for all steps of a short run,
// and of a long one those about the finding's places, as far as mostDetail goes.
const (
	windowSteps = 1024
	windowBytes = 2 << 20
	mostDetail  = 6 << 20   // compressed
	mostRaw     = 96 << 20  // of all windows, before
	keptBack    = 3 << 20   // of mostDetail, for windows about places that are still to come
	mostMarks   = 192 << 20 // bytes of marks and texts, before compression
	before      = 512       // steps about a place
	behind      = 256
)

// A recording is a run that is being recorded.
type recording struct {
	Subject
	s       stream
	r       *timeline.Recorder
	d       *details
	m       *machine.Machine
	windows []recorded
	packed  int
	raw     int
	step    int // that it is at
	last    int // the last place of the finding
	shots   snapshots
}

// A recorded is a window that is done.
type recorded struct {
	from, to int
	data     []byte
}

// record records a run. texts has the indices of PTX texts.
func record(of Subject, texts map[string]uint64) (*recording, error) {
	x := &recording{Subject: of}
	x.s.most, x.s.roles = mostMarks, of.Roles
	x.r = timeline.New(&x.s, of.Names, of.Sites)
	x.r.All()
	x.r.Slots(false)
	x.d = newDetails(&x.s.text, of.Names, texts)
	x.d.track = x.r.WordTrack
	for _, s := range of.Sites {
		x.last = max(x.last, s.Step)
	}
	x.m = of.Start(trial.Observers{x.r, x.d})
	x.r.Before, x.r.After = x.before, x.after
	err := x.r.Go(x.m, of.Run, of.About)
	if x.d.w != nil {
		x.close(len(of.Run))
	}
	return x, err
}

func (x *recording) before(step int) {
	x.step = step
	if st := x.m.Stopped(); st != nil && st.Kind == machine.Interrupted {
		x.s.err = errStopped
	}
	if x.Live {
		x.shots.offer(x.m, step)
	}
	if x.d.w == nil && x.wants(step) {
		x.d.begin(x.m, step)
	}
}

// wants reports whether a step's registers and memory are to be in the page.
func (x *recording) wants(step int) bool {
	if x.Live {
		return false
	}
	near := slices.ContainsFunc(x.Sites, func(s timeline.Site) bool { return step > s.Step-before && step < s.Step+behind })
	room := mostDetail
	if !near && step < x.last {
		room -= keptBack
	}
	return x.packed < room && x.raw < mostRaw
}

func (x *recording) after(step int) {
	if x.d.w == nil {
		return
	}
	x.d.step(x.m, x.Run[step-1])
	if step+1-x.d.w.from >= windowSteps || x.d.size() >= windowBytes || !x.wants(step+1) {
		x.close(step)
	}
}

// close ends a window with a step.
func (x *recording) close(step int) {
	from := x.d.w.from
	data := x.d.finish()
	n := counter(0)
	z, _ := gzip.NewWriterLevel(&n, gzip.BestSpeed)
	z.Write(data)
	z.Close()
	x.packed, x.raw = x.packed+int(n), x.raw+len(data)
	if x.packed > mostDetail {
		return
	}
	x.windows = append(x.windows, recorded{from, step + 1, data})
}

// A counter counts bytes.
type counter int

func (n *counter) Write(b []byte) (int, error) {
	*n += counter(len(b))
	return len(b), nil
}
