// Package tritonlog reads what Triton leaves of its kernels: the logs of tritonparse, with
// compilations and launches, and the cache folders of Triton and of PyTorch's Inductor, with
// compilations alone. Of each kernel it tells the PTX and what is known of its launches.
package tritonlog

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Limits. A log may come from anywhere.
const (
	maxLine     = 64 << 20 // bytes of one event
	maxPTX      = 1 << 29  // bytes of all PTX that is kept
	maxKernels  = 10000
	maxArgs     = 4096 // of one launch
	PerKernel   = 64   // launches of one kernel that are kept
	maxLaunches = 20000
)

// An Error says what is wrong with a log or a file of a cache.
type Error struct {
	Name string
	Line int // from 1; 0: the file
	Msg  string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Name + ": " + e.Msg
	}
	return fmt.Sprintf("%s:%d: %s", e.Name, e.Line, e.Msg)
}

// A Log is what a log or a folder holds.
type Log struct {
	Kernels []*Kernel
	// Lines say what is left out.
	Lines []string
	// Errs are what is wrong with files of a folder, each on its own.
	Errs []error
}

// A Kernel is a compiled kernel.
type Kernel struct {
	Name  string // as the PTX has it
	Place string // the file, or file:line
	PTX   []byte
	// Launches differ in their grid or arguments.
	Launches []*Launch
	meta     *metadata // nil: not known
	more     int       // launches that are not kept
	seen     map[[32]byte]bool
}

// A Launch is one launch of a kernel.
type Launch struct {
	Place string // file:line
	grid  []uint64
	args  []argument
	// without says why there are no arguments.
	without string
}

// A reader reads a log.
type reader struct {
	name     string
	line     int
	log      *Log
	byHash   map[string]*Kernel
	orphans  map[string][]*Launch // launches of kernels that are not compiled yet
	names    []string             // hashes of orphans, in order
	kept     int                  // launches
	bytes    int                  // of PTX
	zero     int                  // launches of no CTA
	withhold map[string]string    // hashes of kernels without PTX
}

// Read reads a log, decompressed. What comes before an error is returned with it.
func Read(name string, from io.Reader) (*Log, error) {
	r := &reader{name: name, log: &Log{}, byHash: map[string]*Kernel{}, orphans: map[string][]*Launch{}, withhold: map[string]string{}}
	err := r.read(bufio.NewReaderSize(from, 1<<16))
	r.finish()
	if err == nil && len(r.log.Kernels) == 0 {
		why := "no kernel's compilation in this log"
		if len(r.log.Lines) > 0 {
			why = "no kernel's PTX in this log: " + r.log.Lines[0]
		}
		err = &Error{name, 0, why}
	}
	return r.log, err
}

func (r *reader) errorf(format string, args ...any) error {
	return &Error{r.name, r.line, fmt.Sprintf(format, args...)}
}

func (r *reader) read(from *bufio.Reader) error {
	for {
		r.line++
		text, err := line(from)
		switch {
		case errors.Is(err, errLong):
			return r.errorf("an event of more than %d MiB, which is all that is read", maxLine>>20)
		case err != nil && err != io.EOF:
			return r.errorf("the log cannot be read on: %v", err)
		}
		if len(strings.TrimSpace(string(text[:min(len(text), 64)]))) > 0 {
			if e := r.event(text); e != nil {
				return e
			}
		}
		if err == io.EOF {
			return nil
		}
	}
}

var errLong = errors.New("too long")

// line reads one line. Its end is io.EOF for the last.
func line(from *bufio.Reader) ([]byte, error) {
	var text []byte
	for {
		part, err := from.ReadSlice('\n')
		if len(text)+len(part) > maxLine {
			return nil, errLong
		}
		text = append(text, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return text, err
		}
	}
}

// compilation takes a compiled kernel.
func (r *reader) compilation(e *event) error {
	if e.Payload == nil || string(e.Payload) == "null" {
		return r.errorf("a compilation without a payload")
	}
	var p payload
	if err := part("payload", e.Payload, &p); err != nil {
		return r.errorf("%v", err)
	}
	m := &p.Metadata
	if err := m.check(); err != nil {
		return r.errorf("%v", err)
	}
	name, text := p.ptx()
	hash := m.Hash
	if hash == "" {
		hash = m.Name // as a launch names it that has no hash either
		if k := r.byHash[hash]; k != nil && string(k.PTX) != text {
			hash = fmt.Sprintf("%x", sha256.Sum256([]byte(text)))
		}
	}
	if r.byHash[hash] != nil {
		return nil // compiled again, or found in Triton's cache
	}
	if m.Name == "" {
		m.Name = strings.TrimSuffix(name, ".ptx")
	}
	if why := m.without(text); why != "" {
		if r.withhold[hash] == "" && len(r.withhold) < maxKernels {
			r.withhold[hash] = why
			r.log.Lines = append(r.log.Lines, fmt.Sprintf("%s:%d: kernel %s has no PTX: %s", r.name, r.line, tidy(m.Name), why))
		}
		return nil
	}
	if r.bytes += len(text); r.bytes > maxPTX || len(r.log.Kernels) >= maxKernels {
		return r.errorf("more than %d kernels or %d MiB of PTX, which is all that is read", maxKernels, maxPTX>>20)
	}
	k := &Kernel{Name: m.Name, Place: fmt.Sprintf("%s:%d", r.name, r.line), PTX: []byte(text), meta: m}
	r.byHash[hash] = k
	r.log.Kernels = append(r.log.Kernels, k)
	return nil
}

// launch takes a launch.
func (r *reader) launch(e *event) error {
	grid, err := e.grid()
	if err != nil {
		return r.errorf("%v", err)
	}
	if grid == nil {
		r.zero++ // Triton launches nothing
		return nil
	}
	var m struct {
		Hash string `json:"hash"`
	}
	if e.Metadata != nil {
		if err := part("compilation_metadata", e.Metadata, &m); err != nil {
			return r.errorf("%v", err)
		}
	}
	hash := m.Hash
	if hash == "" && e.Name != nil {
		if err := part("name", e.Name, &hash); err != nil {
			return r.errorf("%v", err)
		}
	}
	k := r.byHash[hash]
	if k != nil && len(k.Launches) >= PerKernel {
		k.more++
		return nil
	}
	l := &Launch{Place: fmt.Sprintf("%s:%d", r.name, r.line), grid: grid}
	if l.args, l.without, err = e.arguments(); err != nil {
		return r.errorf("%v", err)
	}
	if k == nil {
		if r.orphans[hash] == nil {
			r.names = append(r.names, hash)
		}
		if len(r.names) > maxKernels {
			return r.errorf("launches of more than %d kernels that the log does not have", maxKernels)
		}
		if len(r.orphans[hash]) < PerKernel && r.kept < maxLaunches {
			r.orphans[hash] = append(r.orphans[hash], l)
			r.kept++
		}
		return nil
	}
	if r.kept < maxLaunches {
		r.kept += k.add(l)
	} else {
		k.more++
	}
	return nil
}

// add keeps a launch, and returns 1, unless there is one like it or there are too many.
func (k *Kernel) add(l *Launch) int {
	key := l.key()
	switch {
	case k.seen[key]:
		return 0
	case len(k.Launches) >= PerKernel:
		k.more++
		return 0
	}
	if k.seen == nil {
		k.seen = map[[32]byte]bool{}
	}
	k.seen[key] = true
	k.Launches = append(k.Launches, l)
	return 1
}

// finish gives launches to kernels that came later, and says what is left out.
func (r *reader) finish() {
	for _, hash := range r.names {
		list := r.orphans[hash]
		if k := r.byHash[hash]; k != nil {
			for _, l := range list {
				k.add(l)
			}
		} else if r.withhold[hash] == "" {
			r.log.Lines = append(r.log.Lines, fmt.Sprintf("%s: a launch of kernel %s, whose compilation is not in the log: clear Triton's cache, or import its folder", list[0].Place, tidy(hash)))
		}
	}
	for _, k := range r.log.Kernels {
		if k.more > 0 {
			r.log.Lines = append(r.log.Lines, fmt.Sprintf("%s: kernel %s: %d launches come after the %d that are kept", k.Place, tidy(k.Name), k.more, len(k.Launches)))
		}
	}
	if r.zero > 0 {
		r.log.Lines = append(r.log.Lines, fmt.Sprintf("%s: launches of no CTA, which Triton leaves out: %d", r.name, r.zero))
	}
}

// tidy makes one short line of what a log says.
func tidy(s string) string {
	const most = 120
	n := 0
	out := strings.Map(func(c rune) rune {
		if n++; n > most {
			return -1
		}
		if c < ' ' || c >= 0x7f && c < 0xa0 || c == 0xfffd || c == 0x2028 || c == 0x2029 {
			return '?'
		}
		return c
	}, s)
	if n > most {
		out += "…"
	}
	return out
}
