package muster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"muster/internal/machine"
	"muster/internal/progress"
	"muster/internal/trial"
	"muster/launch"
	"muster/ptx"
)

// A Sequence is the launches of a file in their order. What orders them (streams, events,
// edges of a graph, dependent launches) divides them into stages: the launches of a stage may
// overlap, and a stage begins when the one before has completed. Each stage is a Launch, which
// begins with the memory that one run of the stage before left: what its check says of other
// schedules of that stage, handing.go has.
type Sequence struct {
	file    *launch.File
	limits  Limits
	modules map[string]*source // by path
	ends    []int
}

// A source is a parsed module and its text.
type source struct {
	module *ptx.Module
	text   []byte
	space  int // its number, in a sequence
}

// modules is what launches of the same modules have in common.
func modules(l *launch.Launch) string { return strings.Join(l.Modules(), "\x00") }

// LoadSequence reads the modules of a file's launches.
func LoadSequence(f *launch.File, lim Limits) (*Sequence, error) {
	return LoadSequenceTexts(f, lim, nil)
}

// LoadSequenceTexts is LoadSequence with texts, by path, in place of what the files hold: what
// an editor has not written yet.
func LoadSequenceTexts(f *launch.File, lim Limits, texts map[string][]byte) (*Sequence, error) {
	if err := f.Validate(); err != nil {
		return nil, err
	}
	s := &Sequence{file: f, limits: lim, modules: map[string]*source{}, ends: f.Stages()}
	for i := range f.Launches {
		l := &f.Launches[i]
		if l.Builtin != launch.NoBuiltin || s.modules[modules(l)] != nil {
			continue
		}
		mod, text, err := readModule(l, texts)
		if err != nil {
			return nil, err
		}
		s.modules[modules(l)] = &source{mod, text, len(s.modules) + 1}
	}
	// What is wrong with a launch is said before the first one runs.
	for i := range s.ends {
		if _, err := s.stage(i, nil, nil); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Stages is how many stages there are.
func (s *Sequence) Stages() int { return len(s.ends) }

// Numbers returns the numbers, from 1 on, of the first and the last launch of a stage.
func (s *Sequence) Numbers(stage int) (first, last int) {
	if stage > 0 {
		first = s.ends[stage-1]
	}
	return first + 1, s.ends[stage]
}

// stage prepares stage i, which begins with the global memory of another machine, of which some
// bytes may be others; nil for the contents that the file states.
func (s *Sequence) stage(i int, memory *machine.Machine, before *open) (*Launch, error) {
	first := 0
	if i > 0 {
		first = s.ends[i-1]
	}
	f := *s.file
	f.Launches = s.file.Launches[first:s.ends[i]]
	if i+1 < len(s.ends) {
		f.Expect = nil
	}
	l := &Launch{file: &f, limits: s.limits.filled(), memory: memory}
	if len(s.ends) > 1 {
		l.handing = &handing{before: before, from: func(m *machine.Machine) (*Launch, error) { return s.stage(i, m, nil) }}
	}
	order := s.file.Order()[first:s.ends[i]]
	for _, list := range order {
		var after []machine.Prerequisite
		for _, p := range list {
			if p.Launch >= first {
				after = append(after, machine.Prerequisite{Launch: p.Launch - first, Programmatic: p.Programmatic})
			}
		}
		l.order = append(l.order, after)
	}
	for k := range f.Launches {
		if f.Launches[k].Builtin != launch.NoBuiltin {
			l.sources = append(l.sources, builtins)
			continue
		}
		l.sources = append(l.sources, s.modules[modules(&f.Launches[k])])
	}
	for _, src := range s.modules {
		l.all = append(l.all, src.module)
	}
	return l, l.load()
}

// ContentsDecide is Launch.ContentsDecide for all launches.
func (s *Sequence) ContentsDecide() (bool, error) {
	for i := range s.ends {
		l, err := s.stage(i, nil, nil)
		if err != nil {
			return false, err
		}
		if l.ContentsDecide() {
			return true, nil
		}
	}
	return false, nil
}

// Each calls do for each stage in order, and ends at its first error, or at the first stage
// whose run does not come to its end. A stage begins with what one run of the stages before
// left: the run that do returns, else one of Each's own. Where do checks each stage, a check
// knows of what the checks before have shown: whether other schedules leave the same.
func (s *Sequence) Each(ctx context.Context, do func(i int, l *Launch) (*RunResult, error)) error {
	var memory *machine.Machine
	var before *open
	for i := range s.ends {
		l, err := s.stage(i, memory, before)
		if err != nil {
			return err
		}
		r, err := do(i, l)
		if err != nil || i+1 == len(s.ends) {
			return err
		}
		if r != nil && r.Report == nil && r.mem != nil {
			memory = r.mem
		} else if memory, err = l.leave(progress.In(ctx, "launch "+l.Name())); err != nil {
			return err
		}
		before = l.handing.leaves(l)
	}
	return nil
}

// leave returns the memory that a run of the launch leaves.
func (l *Launch) leave(ctx context.Context) (*machine.Machine, error) {
	ctx = l.subject.Within(ctx, 1)
	w := l.subject.Budget(ctx)
	w.Meter.Stage("running, for the memory that it leaves", "", 0)
	m, gap, err := l.subject.Run(w, trial.Schedule{}, 0)
	switch {
	case err != nil:
		return nil, err
	case gap != nil:
		return nil, &UnfinishedError{l.Name(), gap.What}
	case m.Stopped() != nil:
		return nil, &UnfinishedError{l.Name(), "it stops early"}
	}
	return m, nil
}

// An UnfinishedError says that launches were not looked at, since one before them does not
// come to its end.
type UnfinishedError struct{ Launch, Why string }

func (e *UnfinishedError) Error() string {
	return fmt.Sprintf("nothing behind launch %s was looked at: its run does not come to its end: %s", e.Launch, e.Why)
}

// Only returns the stage of the launch of a name, or of a number from 1 on, with the memory
// that one run of the stages before left.
func (s *Sequence) Only(ctx context.Context, name string) (*Launch, error) {
	n := slices.IndexFunc(s.file.Launches, func(l launch.Launch) bool { return l.Called() == name })
	if k, err := strconv.Atoi(name); n < 0 && err == nil && k >= 1 && k <= len(s.file.Launches) {
		n = k - 1
	}
	if n < 0 {
		return nil, &launch.Error{Pos: launch.Pos{File: s.file.Name}, Msg: fmt.Sprintf("no launch is called %q, and there are %d", name, len(s.file.Launches))}
	}
	var found *Launch
	if len(s.ends) == 1 {
		return s.stage(0, nil, nil)
	}
	err := s.Each(ctx, func(i int, l *Launch) (*RunResult, error) {
		if n >= s.ends[i] {
			return nil, nil
		}
		found = l
		l.handing.given = true
		return nil, errFound
	})
	if found != nil {
		return found, nil
	}
	return nil, err
}

var errFound = errors.New("found")

// Name names the launch, or the launches, of a Launch.
func (l *Launch) Name() string {
	name := ""
	for i := range l.file.Launches {
		if i > 0 {
			name += ", "
		}
		if called := l.file.Launches[i].Called(); called != "" {
			name += called
		} else {
			name += l.config.Program.Entries()[l.entries[i]].Kernel.Name
		}
	}
	return name
}

// builtins are what a fill and a copy do, as kernels: bytes go by threads, in steps of words
// where address and size allow.
var builtins = func() *source {
	const text = `.version 8.0
.target sm_90
.address_size 64

.visible .entry fill(.param .u64 to, .param .u8 value, .param .u64 bytes)
{
	.reg .pred %p<3>;
	.reg .b32 %r<4>;
	.reg .b64 %rd<8>;
	ld.param.u64 %rd1, [to];
	ld.param.u8 %r1, [value];
	ld.param.u64 %rd2, [bytes];
	mov.u32 %r2, %tid.x;
	cvt.u64.u32 %rd3, %r2;
	or.b64 %rd4, %rd1, %rd2;
	and.b64 %rd4, %rd4, 3;
	setp.ne.u64 %p1, %rd4, 0;
	@%p1 bra BYTES;
	mul.lo.u32 %r1, %r1, 0x01010101;
	shl.b64 %rd3, %rd3, 2;
WORDS:
	setp.ge.u64 %p2, %rd3, %rd2;
	@%p2 bra DONE;
	add.u64 %rd5, %rd1, %rd3;
	st.global.u32 [%rd5], %r1;
	add.u64 %rd3, %rd3, 4096;
	bra WORDS;
BYTES:
	setp.ge.u64 %p2, %rd3, %rd2;
	@%p2 bra DONE;
	add.u64 %rd5, %rd1, %rd3;
	st.global.u8 [%rd5], %r1;
	add.u64 %rd3, %rd3, 1024;
	bra BYTES;
DONE:
	ret;
}

.visible .entry copy(.param .u64 to, .param .u64 from, .param .u64 bytes)
{
	.reg .pred %p<3>;
	.reg .b32 %r<4>;
	.reg .b64 %rd<9>;
	ld.param.u64 %rd1, [to];
	ld.param.u64 %rd2, [from];
	ld.param.u64 %rd3, [bytes];
	mov.u32 %r2, %tid.x;
	cvt.u64.u32 %rd4, %r2;
	or.b64 %rd5, %rd1, %rd2;
	or.b64 %rd5, %rd5, %rd3;
	and.b64 %rd5, %rd5, 3;
	setp.ne.u64 %p1, %rd5, 0;
	@%p1 bra BYTES;
	shl.b64 %rd4, %rd4, 2;
WORDS:
	setp.ge.u64 %p2, %rd4, %rd3;
	@%p2 bra DONE;
	add.u64 %rd6, %rd2, %rd4;
	ld.global.u32 %r1, [%rd6];
	add.u64 %rd7, %rd1, %rd4;
	st.global.u32 [%rd7], %r1;
	add.u64 %rd4, %rd4, 4096;
	bra WORDS;
BYTES:
	setp.ge.u64 %p2, %rd4, %rd3;
	@%p2 bra DONE;
	add.u64 %rd6, %rd2, %rd4;
	ld.global.u8 %r1, [%rd6];
	add.u64 %rd7, %rd1, %rd4;
	st.global.u8 [%rd7], %r1;
	add.u64 %rd4, %rd4, 1024;
	bra BYTES;
DONE:
	ret;
}
`
	mod, err := ptx.Parse("fill and copy", []byte(text))
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return &source{mod, []byte(text), 0}
}()
