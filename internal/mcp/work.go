package mcp

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"muster"
	"muster/internal/answer"
	"muster/internal/diag"
	"muster/internal/entry"
	"muster/internal/mutate"
	"muster/internal/script"
	"muster/internal/skeleton"
	"muster/launch"
	"muster/ptx"
	"muster/report"
)

type explainArguments struct {
	Topic string `json:"topic,omitempty" jsonschema:"a kind of finding, incomplete, a condition from C0 to C10, launch or sums; none lists the kinds"`
	Kind  string `json:"kind,omitempty" jsonschema:"the same as topic"`
	spent
}

func (w *work) explain(in *explainArguments) (*Answer, error) {
	if in.Topic != "" && in.Kind != "" && in.Topic != in.Kind {
		return nil, errors.New("topic and kind are the same argument: give one, not both")
	}
	text, err := w.explained(cmp.Or(in.Topic, in.Kind))
	if err != nil {
		return nil, err
	}
	return &Answer{Text: cut(text, w.chars)}, nil
}

type runArguments struct {
	target
	scheduled
	spent
}

// A ran is what is said of a run: its end, and what it left in each buffer.
type ran struct {
	answer.Run
	Buffers []left `json:"buffers"`
}

// A left is what a run left in a buffer.
type left struct {
	Name   string `json:"name"`
	Bytes  int    `json:"bytes"`
	SHA256 string `json:"sha256"` // the first 16 digits
}

func (w *work) run(in *runArguments) (*Answer, error) {
	s, err := in.parsed()
	if err != nil {
		return nil, err
	}
	if s == nil {
		s = &muster.Schedule{}
	}
	file, err := in.file()
	if err != nil {
		return nil, err
	}
	one := func(l *muster.Launch) (*muster.RunResult, error) {
		r, err := l.Run(w.ctx, muster.RunOptions{Schedule: *s, Arguments: in.words()})
		if r == nil || err != nil && w.ctx.Err() == nil { // as of an array that cannot be read
			return nil, err
		}
		if r.Report != nil {
			w.name(r.Report)
		}
		r.Schedule = w.brief(r.Schedule)
		return r, nil
	}
	if len(file.Launches) == 1 || in.Only != "" {
		l, err := w.load(file, in.Only)
		if err != nil {
			return nil, err
		}
		r, err := one(l)
		if err != nil {
			return nil, err
		}
		return w.ran(file, r)
	}
	return w.runsAll(file, one)
}

// runsAll runs launches that come one after the other, and answers of the last.
func (w *work) runsAll(file *launch.File, one func(*muster.Launch) (*muster.RunResult, error)) (*Answer, error) {
	q, err := muster.LoadSequence(file, w.limits)
	if err != nil {
		return nil, err
	}
	var last *muster.RunResult
	var text strings.Builder
	err = q.Each(w.ctx, func(i int, l *muster.Launch) (*muster.RunResult, error) {
		r, err := one(l)
		if r != nil {
			last = r
			first, _ := q.Numbers(i)
			came := string(r.Verdict())
			if r.OK() {
				came = "ran to its end"
			}
			fmt.Fprintf(&text, "launch %d, %s: %s\n", first, l.Name(), came)
		}
		return r, err
	})
	var unfinished *muster.UnfinishedError
	if err != nil && (!errors.As(err, &unfinished) || last == nil) {
		return nil, err
	}
	a, err := w.ran(file, last)
	if err == nil {
		if unfinished != nil {
			fmt.Fprintln(&text, unfinished)
		}
		a.Text = cut(names.Replace(text.String())+a.Text, w.chars)
	}
	return a, err
}

// ran is the answer about a run.
func (w *work) ran(file *launch.File, r *muster.RunResult) (*Answer, error) {
	form := ran{Run: answer.FormOf(r), Buffers: []left{}}
	var b strings.Builder
	switch v := r.Verdict(); {
	case v == muster.Clean && len(r.Comparisons) == 0:
		b.WriteString("ran to its end; nothing is expected of the buffers\n\n")
	case v == muster.Clean:
		b.WriteString("as expected in this one schedule; check says whether in all\n\n")
	case r.Report != nil && slices.ContainsFunc(r.Report.Findings, func(f muster.Finding) bool { return len(f.Waiting) > 0 }):
		fmt.Fprintf(&b, "%s: the run hangs\n\n", v)
	case r.Report != nil:
		fmt.Fprintf(&b, "%s: the run did not come to its end\n\n", v)
	default:
		fmt.Fprintf(&b, "%s: the run left something else than is expected\n\n", v)
	}
	printed := r.Output
	r.Output = nil
	answer.WriteRun(&b, r, report.TextOptions{Brief: true})
	b.WriteString(quoted(printed, w.chars/4))
	form.Output = fitting(printed, maxData/2)
	if r.Report == nil {
		for i := range file.Buffers {
			name := file.Buffers[i].Name
			got, err := r.Buffer(name)
			if err != nil {
				return nil, err
			}
			sum := fmt.Sprintf("%x", sha256.Sum256(got))[:16]
			form.Buffers = append(form.Buffers, left{name, len(got), sum})
			fmt.Fprintf(&b, "buffer %s: %d bytes, sha256 %s\n", name, len(got), sum)
		}
	} else {
		b.WriteString("\nno digests: a run that does not come to its end leaves no results.")
		if len(r.Report.Findings) > 0 {
			fmt.Fprintf(&b, " check shows the finding in full; replay with finding %q tells the run.", r.Report.Findings[0].ID)
		}
		b.WriteByte('\n')
		form.Report = bounded(r.Report)
	}
	form.Buffers = most(form.Buffers, mostBuffers)
	return &Answer{Text: names.Replace(cut(b.String(), w.chars)), Data: data(form)}, nil
}

// quoted is what a kernel printed, line by line behind a mark: its words are not the server's.
func quoted(printed []byte, chars int) string {
	if len(printed) == 0 {
		return ""
	}
	shown := most(printed, chars)
	var b strings.Builder
	b.WriteString("the kernel printed:\n")
	for line := range strings.Lines(string(shown)) {
		fmt.Fprintf(&b, "  | %s\n", diag.Printable(strings.TrimSuffix(line, "\n")))
	}
	if len(shown) < len(printed) {
		fmt.Fprintf(&b, "of what it printed the first %d of %d bytes are shown\n", len(shown), len(printed))
	}
	return b.String()
}

// fitting is the beginning of a text that takes at most n bytes as JSON, where a control
// character takes six.
func fitting(text []byte, n int) string {
	text = most(text, n)
	for size(string(text)) > n {
		text = text[:len(text)/2]
	}
	return string(text)
}

// mostBuffers bounds the buffers in the data of a run.
const mostBuffers = 100

type replayArguments struct {
	target
	Finding string `json:"finding" jsonschema:"the finding's ID, as check gives it, or its kind"`
	scheduled
	Until  int      `json:"until,omitempty" jsonschema:"stop after this step, and say where every thread stands"`
	Print  []string `json:"print,omitempty" jsonschema:"state to show then: barriers, ops, columns, memory:NAME[i:j]"`
	Every  bool     `json:"every_step,omitempty" jsonschema:"tell every step"`
	Shrink bool     `json:"shrink,omitempty" jsonschema:"look for the smallest schedule that shows the finding, and tell that"`
	explored
	spent
}

// A replayed is a finding shown again, as data.
type replayed struct {
	*muster.Report
	Story *muster.Story `json:"story,omitempty"`
}

func (w *work) replay(in *replayArguments) (*Answer, error) {
	if in.Until < 0 {
		return nil, fmt.Errorf("until is %d: steps are numbered from 1", in.Until)
	}
	s, err := in.parsed()
	if err != nil {
		return nil, err
	}
	file, err := in.file()
	if err != nil {
		return nil, err
	}
	l, err := w.load(file, in.Only)
	if err != nil {
		return nil, err
	}
	id := in.Finding
	if s == nil || !strings.Contains(id, "@") {
		if s, id, err = w.seek(l, s, in); err != nil {
			return nil, err
		}
	}
	p := answer.Replay{Schedule: *s, Finding: id, Shrink: in.Shrink, Arguments: in.words(), Tell: muster.TellOptions{All: in.Every, Until: in.Until, Print: in.Print}}
	got, err := p.Show(w.ctx, l)
	var not *muster.NotShown
	switch {
	case errors.As(err, &not):
		return &Answer{Text: cut("incomplete: "+errorText(err)+"\n", w.chars), Data: incomplete(errorText(err))}, nil
	case err != nil:
		return nil, err
	}
	w.name(got.Report)
	var b strings.Builder
	if got.Absent() {
		fmt.Fprintf(&b, "%s: this schedule does not show %s\n\n", muster.Incomplete, id)
	} else {
		fmt.Fprintf(&b, "%s: %s is there again\n\n", muster.Findings, id)
	}
	got.WriteText(&b, report.TextOptions{})
	if got.Untold != nil {
		fmt.Fprintln(&b, got.Untold)
	}
	form := replayed{bounded(got.Report), got.Story}
	if form.Story != nil {
		form.Story.Schedule = w.brief(form.Story.Schedule)
	}
	if form.Story != nil && size(form) > maxData {
		form.Story = nil
		form.Notices = append(slices.Clip(form.Notices), "this data leaves the story out, which the text tells")
	}
	return &Answer{Text: names.Replace(cutMiddle(b.String(), w.chars)), Data: data(form)}, nil
}

// seek returns a schedule that shows a finding, and its ID: from the given schedule, or from
// a check.
func (w *work) seek(l *muster.Launch, s *muster.Schedule, in *replayArguments) (*muster.Schedule, string, error) {
	o := muster.CheckOptions{SoFar: w.tell, Explore: muster.ExploreOptions{Schedules: in.Schedules, Steps: in.Steps}}
	if s != nil {
		o = muster.CheckOptions{Schedules: []muster.Schedule{*s}, Mode: muster.OnlySchedules}
	}
	r, err := l.Check(w.ctx, o)
	if r == nil {
		return nil, "", err
	}
	found := called(r, in.Finding)
	switch {
	case len(found) == 0:
		return nil, "", absent(in.Finding, r.Summary, r)
	case found[0].Schedule == "": // of the launch itself
		return &muster.Schedule{}, found[0].ID, nil
	}
	got, err := muster.ParseSchedule(found[0].Schedule)
	return &got, found[0].ID, err
}

type reduceArguments struct {
	target
	Finding string `json:"finding" jsonschema:"the finding that must stay: its kind or ID"`
	scheduled
	Runs int `json:"runs,omitempty" jsonschema:"runs to find a smaller launch; default 100, at most 2000"`
	spent
}

const defaultRuns, mostRuns = 100, 2000

// A smaller is a reduced launch, as data.
type smaller struct {
	Finding  string   `json:"finding"`
	Changes  []string `json:"changes"`
	Launch   string   `json:"launch_text"`
	Schedule string   `json:"schedule"`
	Smallest bool     `json:"smallest"` // no single further move makes it smaller
}

func (w *work) reduce(in *reduceArguments) (*Answer, error) {
	if err := bound("runs", &in.Runs, defaultRuns, 1, mostRuns); err != nil {
		return nil, err
	}
	s, err := in.parsed()
	if err != nil {
		return nil, err
	}
	file, err := in.file()
	if err != nil {
		return nil, err
	}
	r, err := muster.Reduce(w.ctx, file, w.limits, in.Finding, muster.ReduceOptions{Schedule: s, Runs: in.Runs})
	var absent *muster.Absent
	switch {
	case errors.As(err, &absent):
		return &Answer{Text: "incomplete: " + errorText(absent) + "\n", Data: incomplete(errorText(absent))}, nil
	case r == nil || err != nil && w.ctx.Err() == nil && !answer.AsItIs(err):
		return nil, err
	}
	var text, b bytes.Buffer
	if err := r.File.Write(&text, "."); err != nil {
		return nil, err
	}
	form := smaller{r.ID, append([]string{}, r.Changes...), text.String(), w.brief(r.Schedule.String()), r.All}
	answer.WriteReduced(&b, r)
	fmt.Fprintf(&b, "\nschedule %s\n", form.Schedule)
	launch := form.Launch
	if size(form) > maxData {
		form.Launch = ""
		b.WriteString("the data leaves launch_text out\n")
	}
	fmt.Fprintf(&b, "\nlaunch_text:\n%s", launch)
	return &Answer{Text: cut(b.String(), w.chars), Data: data(form)}, nil
}

type mutateArguments struct {
	target
	Kinds []string `json:"kinds,omitempty" jsonschema:"mutate only these: a kind (fence, wait), a variant (wait-pass), or one mutant (wait-pass@118:2)"`
	List  bool     `json:"list,omitempty" jsonschema:"list the mutants, and run none"`
	Runs  int      `json:"runs,omitempty" jsonschema:"schedules in which each mutant runs until one shows a finding; default 7, the most"`
	spent
}

func (w *work) mutate(in *mutateArguments) (*Answer, error) {
	if err := bound("runs", &in.Runs, handful, 1, handful); err != nil {
		return nil, err
	}
	file, err := in.file()
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	if in.List {
		list, err := mutate.ListLaunch(file, in.Kinds)
		if err != nil {
			return nil, err
		}
		mutate.WriteList(&b, list)
		return &Answer{Text: cut(b.String(), w.chars)}, nil
	}
	t, err := mutate.Run(w.ctx, file, mutate.Options{
		Schedules: muster.Handful(muster.DefaultRandom)[:in.Runs], Jobs: runtime.GOMAXPROCS(0), Only: in.Kinds, Limits: w.limits,
	})
	if t == nil {
		return nil, err
	}
	var form bytes.Buffer
	t.WriteText(&b)
	t.WriteJSON(&form)
	text := t.Summary() + "\n\n" + b.String()
	if len(text) > w.chars {
		b.Reset()
		t.WriteNotFound(&b)
		text = t.Summary() + "\n" + b.String() + "\nthose that are found are left out; kinds asks for some, chars allows more\n"
	}
	a := &Answer{Text: names.Replace(cut(text, w.chars))}
	if form.Len() <= maxData {
		a.Data = json.RawMessage(names.Replace(form.String()))
	}
	return a, nil
}

type barrierArguments struct {
	Script string `json:"script" jsonschema:"the operations, one a line: [ACTOR:] arrive BAR, arrive.expect_tx BAR BYTES, wait BAR parity P, copy NAME: BYTES bytes to BAR, land NAME, ..."`
	spent
}

// handful is how many schedules run where one run does not decide.
const handful = 3 + muster.DefaultRandom

// maxScript bounds a script in bytes.
const maxScript = 64 << 10

// An operated is what a script of a barrier comes to, as data.
type operated struct {
	Kinds []string `json:"kinds"` // of what goes wrong in it
}

func (w *work) barrier(in *barrierArguments) (*Answer, error) {
	if len(in.Script) > maxScript {
		return nil, fmt.Errorf("a script of %d bytes; at most %d are read", len(in.Script), maxScript)
	}
	s, err := script.Parse("script", []byte(in.Script))
	if err != nil {
		return nil, err
	}
	if s.Empty() {
		return nil, errors.New("script: no operation is in it")
	}
	r, err := s.Run()
	if err != nil {
		return nil, err
	}
	head := "nothing is wrong in it\n\n"
	if len(r.Kinds) > 0 {
		head = "findings: " + strings.Join(r.Kinds, ", ") + "\n\n"
	}
	return &Answer{Text: cut(head+r.Text, w.chars), Data: data(operated{append([]string{}, r.Kinds...)})}, nil
}

type initArguments struct {
	PTX     string `json:"ptx,omitempty" jsonschema:"path of a PTX file"`
	PTXText string `json:"ptx_text,omitempty" jsonschema:"the PTX itself"`
	Kernel  string `json:"kernel,omitempty" jsonschema:"the kernel's name, if the module has several"`
	spent
}

func (in *initArguments) of() *target { return &target{PTX: in.PTX, PTXText: in.PTXText} }

func (w *work) init(in *initArguments) (*Answer, error) {
	name, src, err := in.of().text()
	if err != nil {
		return nil, err
	}
	m, err := ptx.Parse(name, src)
	if err != nil {
		return nil, err
	}
	f, err := entry.Find(&launch.Launch{Kernel: in.Kernel}, m)
	if err != nil {
		return nil, fmt.Errorf("%s: %s", name, strings.TrimPrefix(err.Error(), ": "))
	}
	if _, err := entry.ParamsOf(m, f); err != nil {
		return nil, err
	}
	var b strings.Builder
	if err := skeleton.Write(&b, name, m, f); err != nil {
		return nil, err
	}
	return &Answer{Text: cut(b.String(), w.chars)}, nil
}
