package muster_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"testing"

	"muster"
	"muster/report"
)

// This file decodes what a view's page holds, as docs/view.md describes it.

// A viewed is the data of a page.
type viewed struct {
	Report   json.RawMessage
	Texts    []viewedText
	Memories []struct {
		Name, Space, Base string
		Size, Elem        uint64
	}
	Runs  []*viewedRun
	Kinds map[string]struct {
		Title, Text string
		Edge        int
	}
	blob []byte
}

type viewedText struct {
	File, Kind string
	Text       [2]int
	Cut        bool
	Loc        [][3]any
}

type viewedRun struct {
	Name, Schedule, Cut, Finding, Live string
	Steps                              int
	Words                              []struct {
		Step, First int
		Text        string
		Site        *int
	}
	Tracks         [2]int
	Strings, Marks [2]int
	Detail         [][4]int
	Sites          []struct {
		Step, Site int
		Track      uint64
		Role       string
	}
	table  []string
	tracks []report.TraceTrack
}

func decodeView(t *testing.T, v *muster.View) *viewed {
	t.Helper()
	about, blob, err := v.Data()
	if err != nil {
		t.Fatal(err)
	}
	d := &viewed{blob: blob}
	if err := json.Unmarshal(about, d); err != nil {
		t.Fatal(err)
	}
	for _, r := range d.Runs {
		for at, to := range map[[2]int]any{r.Strings: &r.table, r.Tracks: &r.tracks} {
			if err := json.Unmarshal(d.at(at), to); err != nil {
				t.Fatal(err)
			}
		}
	}
	return d
}

func (d *viewed) at(r [2]int) []byte { return d.blob[r[0] : r[0]+r[1]] }

// A bytesReader reads numbers.
type bytesReader struct {
	t *testing.T
	b []byte
}

func (r *bytesReader) byte() byte {
	if len(r.b) == 0 {
		r.t.Fatal("the data end early")
	}
	b := r.b[0]
	r.b = r.b[1:]
	return b
}

func (r *bytesReader) u() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.t.Fatal("no number")
	}
	r.b = r.b[n:]
	return v
}

func (r *bytesReader) z() int64 {
	v, n := binary.Varint(r.b)
	if n <= 0 {
		r.t.Fatal("no number")
	}
	r.b = r.b[n:]
	return v
}

// marks decodes the stream of a run.
func (d *viewed) marks(t *testing.T, run *viewedRun) (list []report.TraceMark) {
	r := &bytesReader{t, d.at(run.Marks)}
	var track uint64
	var time int64
	text := func() string { return run.table[r.u()] }
	ids := func() []uint64 {
		var ids []uint64
		for range r.u() {
			ids = append(ids, r.u())
		}
		return ids
	}
	for len(r.b) > 0 {
		k := r.byte()
		track, time = track+uint64(r.z()), time+r.z()
		m := report.TraceMark{Kind: report.TraceKind(k & 15), Track: track, Time: time}
		switch m.Kind {
		case report.TraceBegin, report.TraceInstant:
			m.Name, m.Category = text(), text()
		case report.TraceValue:
			m.Value = r.z()
		}
		if k&64 != 0 {
			m.PTX, m.PTXLine = text(), int(r.u())
		}
		if k&16 != 0 {
			m.From, m.To = ids(), ids()
		}
		if k&32 != 0 {
			for range r.u() {
				a := report.TraceArg{Name: text()}
				if n := r.u(); n > 0 {
					a.Text = run.table[n-1]
				} else {
					a.Number = r.z()
				}
				m.Args = append(m.Args, a)
			}
		}
		list = append(list, m)
	}
	return list
}

// A shownState is what the entries of a window say so far.
type shownState struct {
	regs  map[string]*[32]uint64 // by CTA, warp and name
	has   map[string]uint32
	types map[string]string
	bytes map[shownMemory]map[uint64]byte // by offset
	words map[uint64][4]int64             // by track: phase, pending, expected, tx
	// locals are bytes by offset, by CTA, warp, name and lane.
	locals map[string]map[uint64]byte
	at     map[string][32][2]uint64
	warps  map[[2]uint64]bool
	wrote  []shownByte // by the last step
}

type shownMemory struct {
	name string
	cta  uint64
}

type shownByte struct {
	shownMemory
	off uint64
}

func regKey(cta, warp uint64, name string) string { return fmt.Sprintf("%d.%d %s", cta, warp, name) }

// apply reads the entries of a keyframe, or of a step.
func (s *shownState) apply(r *bytesReader, table []string) {
	s.wrote = s.wrote[:0]
	for range r.u() {
		switch kind := r.byte(); kind {
		case 1:
			cta, warp, name, of, mask := r.u(), r.u(), table[r.u()], table[r.u()], r.u()
			key := regKey(cta, warp, name)
			s.warps[[2]uint64{cta, warp}] = true
			if of == "" {
				s.has[key] &^= uint32(mask)
				break
			}
			if s.regs[key] == nil {
				s.regs[key] = new([32]uint64)
			}
			s.types[key] = of
			s.has[key] |= uint32(mask)
			for l := range 32 {
				if mask>>l&1 != 0 {
					s.regs[key][l] = r.u()
				}
			}
		case 2, 5:
			mem, off, n := shownMemory{table[r.u()], r.u()}, r.u(), r.u()
			if s.bytes[mem] == nil {
				s.bytes[mem] = map[uint64]byte{}
			}
			for i := range n {
				s.wrote = append(s.wrote, shownByte{mem, off + i})
				if kind == 5 {
					delete(s.bytes[mem], off+i)
				} else {
					s.bytes[mem][off+i] = r.byte()
				}
			}
		case 6, 7:
			cta, warp, mask, name, off, n := r.u(), r.u(), r.u(), table[r.u()], r.u(), r.u()
			for l := range 32 {
				if mask>>l&1 == 0 {
					continue
				}
				key := regKey(cta, warp, name) + fmt.Sprint(" of lane ", l)
				if s.locals[key] == nil {
					s.locals[key] = map[uint64]byte{}
				}
				for i := range n {
					if kind == 7 {
						delete(s.locals[key], off+i)
					} else {
						s.locals[key][off+i] = r.byte()
					}
				}
			}
		case 3:
			track := r.u()
			s.words[track] = [4]int64{int64(r.u()), int64(r.u()), int64(r.u()), r.z()}
		case 4:
			cta, warp, mask, file, line := r.u(), r.u(), r.u(), r.u(), r.u()
			key := regKey(cta, warp, "")
			s.warps[[2]uint64{cta, warp}] = true
			at := s.at[key]
			for l := range 32 {
				if mask>>l&1 != 0 {
					at[l] = [2]uint64{file, line}
				}
			}
			s.at[key] = at
		default:
			r.t.Fatalf("an entry of kind %d", kind)
		}
	}
}

func newShown() *shownState {
	return &shownState{regs: map[string]*[32]uint64{}, has: map[string]uint32{}, types: map[string]string{}, bytes: map[shownMemory]map[uint64]byte{},
		words: map[uint64][4]int64{}, locals: map[string]map[uint64]byte{}, at: map[string][32][2]uint64{}, warps: map[[2]uint64]bool{}}
}
