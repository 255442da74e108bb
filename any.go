package muster

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"muster/internal/anycount"
	"muster/internal/machine"
	"muster/launch"
	"muster/report"
)

// CheckAny is Check, and if that proves all schedules, it tries to prove the launches
// with other values of one scalar argument, numbered from 1. The result is the report's
// Proof.Any. The error is ctx's, or says why this argument cannot be a count.
func (l *Launch) CheckAny(ctx context.Context, o CheckOptions, argument int) (*Report, error) {
	f, err := l.family(argument)
	if err != nil {
		return nil, err
	}
	ctx = l.subject.Within(ctx, 1)
	r, err := l.Check(ctx, o)
	if err != nil || r.Proof == nil || !r.Proof.All {
		return r, err
	}
	w, known := l.subject.Budget(ctx), r.Proof.AnyContents
	r.Proof.Any = f.Prove(w, o.Jobs, known)
	for _, other := range l.others() {
		if !r.Proof.Any.Holds {
			break
		}
		g, err := other.family(argument)
		if err != nil {
			return nil, err
		}
		r.Proof.Any = sameAny(r.Proof.Any, g.Prove(w, o.Jobs, known), other)
	}
	if r.Proof.Any.Holds && len(l.subject.Start.PreferredClusters()) > 1 {
		r.Proof.Any.Holds = false
		r.Proof.Any.Reasons = append(r.Proof.Any.Reasons, report.Reason{Condition: report.CutShort, Text: "mixes of preferred and regular clusters were not looked at for other values"})
	}
	r.Conclude(report.Options{FailOnWarning: o.FailOnWarning})
	return r, ctx.Err()
}

// others are the launches with other leaders and other sizes of clusters.
func (l *Launch) others() []*Launch {
	list := []*Launch{}
	if l.prefers() {
		list = append(list, l.sized(allPreferred))
	}
	if l.subject.Program.Elects() {
		for _, of := range append([]*Launch{l}, list...) {
			list = append(list, of.led())
		}
	}
	return list
}

// family returns the launches that differ from this one in one argument.
func (l *Launch) family(argument int) (*anycount.Family, error) {
	if len(l.file.Launches) > 1 {
		return nil, errors.New("a proof for every larger value is of one launch, and these may overlap")
	}
	first := &l.file.Launches[0]
	params := l.config.Program.Params
	if argument < 1 || argument > len(first.Args) || argument > len(params) {
		return nil, fmt.Errorf("argument %d: the kernel has %d", argument, len(first.Args))
	}
	a, p := &first.Args[argument-1], &params[argument-1]
	arg := anycount.Argument{Number: argument, Name: p.Name, Offset: p.Offset, Size: p.Size}
	switch {
	case a.Kind != launch.ArgScalar || a.Type.IsFloat() || p.Size != 4 && p.Size != 8 || int(p.Size) != a.Type.Size():
		return nil, fmt.Errorf("argument %d is %v: only a scalar of 32 or 64 bits, an integer, counts anything", argument, a)
	case p.Size == 4:
		arg.Value, arg.Max = int64(int32(a.Bits)), math.MaxInt32
	default:
		arg.Value, arg.Max = int64(a.Bits), 1<<60
	}
	return anycount.New(l.subject, &relatives{l, arg}, arg)
}

// relatives builds launches that differ from l in one argument.
type relatives struct {
	l   *Launch
	arg anycount.Argument
}

func (r *relatives) Place(pc int32) *report.Place { return r.l.place(pc) }

func (r *relatives) Buffers() []string {
	var names []string
	for i := range r.l.layout.Buffers {
		names = append(names, r.l.layout.Buffers[i].Name)
	}
	return names
}

// Make builds the launch with argument value k, with the same choice of leaders.
func (r *relatives) Make(k int64, addresses map[int32]bool) (*anycount.Launch, error) {
	l, err := r.with(k, addresses)
	if err != nil {
		return nil, err
	}
	s := l.subject
	if len(r.l.sizes) > 0 {
		if s = s.Sized(r.l.sizes); s == nil {
			return nil, errors.New("its clusters have no such sizes")
		}
	}
	if r.l.subject.Highest {
		s = s.Led()
	}
	return &anycount.Launch{Subject: s, Refused: len(l.findings) > 0, Buffer: l.bufferAt}, nil
}

func (r *relatives) with(k int64, addresses map[int32]bool) (*Launch, error) {
	if k <= r.arg.Value {
		l := *r.l
		l.config.Params = append([]byte(nil), l.config.Params...)
		if r.arg.Size == 4 {
			binary.LittleEndian.PutUint32(l.config.Params[r.arg.Offset:], uint32(k))
		} else {
			binary.LittleEndian.PutUint64(l.config.Params[r.arg.Offset:], uint64(k))
		}
		return &l, l.makeSubject()
	}
	file := *r.l.file
	file.Launches = append([]launch.Launch(nil), file.Launches...)
	file.Launches[0].Args = append([]launch.Arg(nil), file.Launches[0].Args...)
	file.Launches[0].Args[r.arg.Number-1].Bits = uint64(k)
	file.Expect = nil
	file.Buffers = append([]launch.Buffer(nil), file.Buffers...)
	blind := r.l.config.Program.ReachesBut(machine.FromBuffers, addresses) < 0
	for i := range file.Buffers {
		r.grow(&file.Buffers[i], &r.l.layout.Buffers[i], k, blind)
	}
	l := *r.l
	l.file, l.findings = &file, nil
	return &l, l.prepare(r.l.config.Program)
}

// grow enlarges a buffer: the dimensions equal to the argument's value, or else the
// outermost one. Fills become zeros if blind, where no branch, address or synchronization
// operand depends on buffer contents, and always if they are a file.
func (r *relatives) grow(b *launch.Buffer, placed *launch.PlacedBuffer, k int64, blind bool) {
	if b.Fill.Kind == launch.FillValues || b.Fixed {
		return
	}
	if b.Fill.Kind == launch.FillFile || blind && b.Fill.Kind != launch.FillUninitialized {
		b.Fill = launch.Fill{Kind: launch.FillZeros, Pos: b.Fill.Pos}
	}
	b.Shape = append([]int64(nil), placed.Shape...)
	grown := false
	for i, n := range b.Shape {
		if n == r.arg.Value {
			b.Shape[i], grown = k, true
		}
	}
	if !grown && len(b.Shape) > 0 {
		b.Shape[0] = (b.Shape[0]*k + r.arg.Value - 1) / r.arg.Value
	}
}

// bufferAt returns the index of the buffer that contains addr; MaxInt if none does.
func (l *Launch) bufferAt(addr uint64) int {
	for i := range l.layout.Buffers {
		if b := &l.layout.Buffers[i]; addr >= b.Base && addr < b.End() {
			return i
		}
	}
	return math.MaxInt
}
