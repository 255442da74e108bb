package rules

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"muster/internal/diag"
	"muster/internal/machine"
	"muster/internal/order"
	"muster/ptx"
)

// A conflict becomes a finding of exactly one kind. The kind depends only on the
// accesses and on what is missing between them: neither on the stage of an
// operation in this run, nor on the waits of this schedule, so that the same
// defect has the same name in every run.

// races turns order's conflicts into findings.
func (j *Judge) races() {
	conflicts := j.Order.Conflicts()
	facts := j.Order.FactList()
	named := make([]*Kind, len(conflicts))
	met := make(map[[2]string][]int) // conflicts by their pair of places
	for i := range conflicts {
		if c := &conflicts[i]; !onBarrierWord(c, facts) {
			named[i] = j.classify(c)
			p := j.places(c)
			met[p] = append(met[p], i)
		}
	}
	widened(conflicts, named)
	for i := range conflicts {
		c, k := &conflicts[i], named[i]
		if k == nil || k == sameValue && !j.over || better(i, met[j.places(c)], conflicts, named) {
			continue
		}
		f := describe[k](j, c)
		f.Count = c.Count
		f.Notes = append(f.Notes, j.strengthNote(c)...)
		j.rows(c, &f)
		if k.Order == Conflict {
			f.Ties = j.conflictTies(conflicts, i)
		}
		j.add(k, f)
	}
}

// Wrong reports whether the run so far has an error.
func (j *Judge) Wrong() bool {
	if slices.ContainsFunc(j.findings, func(f Finding) bool { return f.Severity == Error }) {
		return true
	}
	facts := j.Order.FactList()
	for _, c := range j.Order.Conflicts() {
		if !onBarrierWord(&c, facts) && j.classify(&c).Severity == Error && !j.onRows(&c) {
			return true
		}
	}
	return false
}

// KindOf names the kind of finding that a conflict is.
func (j *Judge) KindOf(c *order.Conflict) string { return j.classify(c).Name }

// describe says, for each kind that conflicts become, what happened, which
// edge is missing and what would give it.
var describe map[*Kind]func(*Judge, *order.Conflict) Finding

func init() {
	describe = map[*Kind]func(*Judge, *order.Conflict) Finding{
		raceShared:        (*Judge).plainRace,
		raceGlobal:        (*Judge).plainRace,
		raceLanes:         (*Judge).laneRace,
		mixedSizeRace:     (*Judge).mixedRace,
		sameValue:         (*Judge).equalStores,
		proxyRaw:          (*Judge).proxyRead,
		proxyWar:          (*Judge).proxyOverwrite,
		proxyWaw:          (*Judge).proxyRewrite,
		asyncAsync:        (*Judge).asyncPair,
		readInFlight:      (*Judge).earlyRead,
		overwriteInFlight: (*Judge).earlyWrite,
		scopeTooNarrow:    (*Judge).narrowScope,
		relaxedSync:       (*Judge).relaxedPath,
		staleNC:           (*Judge).staleRead,
		tensormapStale:    (*Judge).staleMap,
		tensormapInFlight: (*Judge).movedMap,
		proxyRawCpAsync:   (*Judge).cpAsyncRead,
		collectiveOrder:   (*Judge).collective,
		raceLaunches:      (*Judge).launchRace,
		raceTensor:        (*Judge).tensorRace,
		tensorFence:       (*Judge).fencelessTensor,
		tensorWait:        (*Judge).waitlessLoad,
		tensorOrder:       (*Judge).queueOrder,
		tensorAddress:     (*Judge).committedAddress,
		commitRelease:     (*Judge).relayedRace,
		tensorUnallocated: (*Judge).outlivedColumns,
		tensorAlloc:       (*Judge).permitRace,
	}
}

// classify names the defect. The cases come in the order in which a user would
// fix them.
func (j *Judge) classify(c *order.Conflict) *Kind {
	w := c.Why
	switch {
	case c.Span.Mem.Kind() == machine.TensorMemory:
		return inTensorMemory(c)
	case j.dependent(c) && w&(order.IfScopeWider|order.IfProxyFence|order.BothAsyncOtherCTA|order.SameValue) == 0,
		j.betweenLaunches(c) && w&(order.IfScopeWider|order.IfNotRelaxed|order.IfProxyFence|order.BothAsyncOtherCTA|order.SameValue|order.NotMorallyStrong) == 0:
		return raceLaunches
	case w&order.StaleConstant != 0 || c.Prior.Proxy == machine.Constant || c.Cur.Proxy == machine.Constant:
		return staleNC
	case c.Cur.Proxy == machine.TensorMap:
		return tensormapStale
	case c.Prior.Proxy == machine.TensorMap:
		return tensormapInFlight
	case w&order.SameValue != 0:
		return sameValue
	case w&order.IfTogether != 0:
		return collectiveOrder
	case w&order.IfScopeWider != 0:
		return scopeTooNarrow
	case w&order.IfNotRelaxed != 0:
		return relaxedSync
	case w&order.IfCommitted != 0:
		return tensorAddress
	case w&order.IfRelayed != 0:
		return commitRelease
	case w&order.BothAsyncOtherCTA != 0:
		return asyncAsync
	case w&order.IfProxyFence != 0:
		switch {
		case writes(&c.Cur) && writes(&c.Prior):
			return proxyWaw
		case writes(&c.Cur):
			return proxyWar
		}
		if fedByCpAsync(c) {
			return proxyRawCpAsync
		}
		return proxyRaw
	case w&order.InFlight != 0:
		return j.inFlight(c)
	case w&order.SameWarpLanes != 0:
		return raceLanes
	case w&order.PartialOverlap != 0 && j.sizesDiffer(c):
		return mixedSizeRace
	case w&order.NotMorallyStrong != 0 && w&order.PartialOverlap == 0:
		return scopeTooNarrow
	}
	return raceIn(c)
}

// inTensorMemory names a conflict in tensor memory. Threads allocate and free its columns;
// all else is operations.
func inTensorMemory(c *order.Conflict) *Kind {
	switch {
	case c.Span.IsPermit():
		return tensorAlloc
	case c.Why&order.IfDataCame != 0:
		return tensorWait
	case c.Prior.Op < 0 || c.Cur.Op < 0:
		return tensorUnallocated
	case c.Why&order.IfTensorFence != 0:
		return tensorFence
	case c.Why&order.IfQueued != 0:
		return tensorOrder
	}
	return raceTensor
}

func raceIn(c *order.Conflict) *Kind {
	if c.Span.Mem == machine.Global {
		return raceGlobal
	}
	return raceShared
}

// inFlight distinguishes reads and writes that come before an operation's
// completion, and both from a race between unrelated agents: if not even the
// issue of the operation happens before the later access, a write to global
// memory is raced with, not awaited too late.
func (j *Judge) inFlight(c *order.Conflict) *Kind {
	switch {
	case c.Span.Mem == machine.Global && writes(&c.Prior) && c.Why&order.IssueKnown == 0:
		return raceGlobal
	case !writes(&c.Cur):
		return readInFlight
	}
	return overwriteInFlight
}

func writes(r *order.AccessRef) bool { return r.Access&machine.Write != 0 }

// sizesDiffer reports whether the accesses' elements differ in size: a vector
// access is one scalar access for each element (ISA 8.2.4). Those of free have none.
func (j *Judge) sizesDiffer(c *order.Conflict) bool {
	if j.Program.Frees(c.Prior.PC) || j.Program.Frees(c.Cur.PC) {
		return false
	}
	a, b := j.elementSize(c.Prior.PC), j.elementSize(c.Cur.PC)
	return a == 0 || b == 0 || a != b
}

// elementSize returns the size of an instruction's access, of one element for a
// vector; 0 if its text does not say.
func (j *Judge) elementSize(pc int32) int {
	in := j.Program.Inst(pc)
	if in == nil {
		return 0
	}
	for i := len(in.Mods) - 1; i >= 0; i-- {
		digits := strings.TrimLeft(in.Mods[i], "busfe")
		switch {
		case digits == in.Mods[i]:
		case digits == "128":
			return 16
		case digits == "64":
			return 8
		case digits == "32" || digits == "16x2":
			return 4
		case digits == "16":
			return 2
		case digits == "8":
			return 1
		}
	}
	return 0
}

// better reports whether another conflict between the same two places has a
// name that says more than that of conflict i:
//   - stores that also conflict with different values are no equal stores;
//   - where a barrier between warps is missing, the lanes of one warp lack it
//     too, and the wider barrier serves both;
//   - where an elected lane published the accesses of its neighbours, conflicts
//     of their accesses after its release follow from that and are no separate
//     defects.
func better(i int, same []int, all []order.Conflict, named []*Kind) bool {
	k, narrow := named[i], oneWarpOnly(&all[i])
	for _, o := range same {
		n, within := named[o], oneWarpOnly(&all[o])
		switch k {
		case sameValue:
			if n != sameValue {
				return true
			}
		case raceLanes:
			if narrow && !within && (raceKinds[n] || n == readInFlight || n == overwriteInFlight) {
				return true
			}
		case raceShared, raceGlobal:
			if n == raceLanes && !within {
				return true
			}
		}
	}
	return false
}

var raceKinds = map[*Kind]bool{raceShared: true, raceGlobal: true, mixedSizeRace: true}

func oneWarpOnly(c *order.Conflict) bool {
	return c.Prior.CTA == c.Cur.CTA && c.Prior.Warp == c.Cur.Warp
}

// places names the two instructions of a conflict, in an order independent of the
// schedule. Copies of an instruction from an unrolled loop have one name.
func (j *Judge) places(c *order.Conflict) [2]string {
	a, b := j.placeOf(c.Prior.PC), j.placeOf(c.Cur.PC)
	return [2]string{min(a, b), max(a, b)}
}

func (j *Judge) placeOf(pc int32) string {
	src := j.Program.Source(pc)
	if len(src) == 0 {
		return fmt.Sprint(pc)
	}
	place := j.name(pc)
	for _, s := range src {
		place += fmt.Sprintf("|%s:%d", s.File, s.Line)
	}
	return place
}

// onBarrierWord reports whether the conflict is with a live mbarrier's word,
// which is a separate finding.
func onBarrierWord(c *order.Conflict, facts []order.Fact) bool {
	for i := range facts {
		f := &facts[i]
		if f.Kind == order.BarrierTouched && f.Span.Mem == c.Span.Mem && f.B.PC == c.Cur.PC && f.A.PC == c.Prior.PC &&
			f.Span.Addr < c.Span.Addr+c.Span.Len && c.Span.Addr < f.Span.Addr+f.Span.Len {
			return true
		}
	}
	return false
}

// strengthNote says how the accesses' strength (weak or strong) contributes.
func (j *Judge) strengthNote(c *order.Conflict) []string {
	if c.Prior.Strong == c.Cur.Strong || c.Prior.Op >= 0 || c.Cur.Op >= 0 || c.Why&order.NoEdge == 0 {
		return nil
	}
	weak := &c.Prior
	if c.Prior.Strong {
		weak = &c.Cur
	}
	return []string{fmt.Sprintf("%s is weak: strong accesses on both sides (atom, red, ld and st with .relaxed or stronger) would not race, "+
		"whatever else they leave open", j.instr(weak))}
}

// ---- words ----

// site makes a Site of one side of a conflict.
func (j *Judge) site(r *order.AccessRef, s machine.Span) Site {
	return Site{
		Role: j.role(r), PC: r.PC, CTA: r.CTA, Warp: r.Warp, Lanes: r.Lanes,
		Op: opName(r), Mem: s.Mem, Addr: s.Addr, Len: s.Len,
	}
}

func (j *Judge) pair(c *order.Conflict) []Site {
	return []Site{j.site(&c.Prior, c.Span), j.site(&c.Cur, c.Span)}
}

// role says in a word what an access did.
func (j *Judge) role(r *order.AccessRef) string {
	if r.Op >= 0 {
		return opWord(r) + " " + verb(r)
	}
	if in := j.Program.Inst(r.PC); in != nil && in.IsOf(ptx.ClassMbarrier) {
		switch in.Form.Barrier {
		case "init":
			return "initializes an mbarrier"
		case "inval":
			return "invalidates an mbarrier"
		}
	}
	return verb(r)
}

func verb(r *order.AccessRef) string {
	switch {
	case r.Access&machine.Update != 0:
		return "updates"
	case writes(r):
		return "writes"
	}
	return "reads"
}

var opWords = map[machine.OpKind]string{
	machine.OpCpAsync:        "cp.async",
	machine.OpBulkCopy:       "bulk copy",
	machine.OpBulkReduce:     "bulk reduction",
	machine.OpBulkPrefetch:   "bulk prefetch",
	machine.OpStAsync:        "st.async",
	machine.OpRedAsync:       "red.async",
	machine.OpMbarArrive:     "asynchronous arrive",
	machine.OpWgmma:          "wgmma",
	machine.OpTensorMultiply: "tcgen05.mma",
	machine.OpTensorCopy:     "tcgen05.cp",
	machine.OpTensorShift:    "tcgen05.shift",
	machine.OpTensorLoad:     "tcgen05.ld",
	machine.OpCancel:         "request for a cluster",
	machine.OpTensorStore:    "tcgen05.st",
}

func opWord(r *order.AccessRef) string {
	if w, ok := opWords[r.Kind]; ok {
		return w
	}
	return "asynchronous operation"
}

// opName names an operation and its stage; empty for a thread.
func opName(r *order.AccessRef) string {
	if r.Op < 0 {
		return ""
	}
	stage := [...]string{
		machine.Issued:     "issued, source not read",
		machine.SourceRead: "source read, not written",
		machine.Written:    "written, completion not signalled",
		machine.Signalled:  "completion signalled",
	}[r.Stage]
	return fmt.Sprintf("%s %d, %s", opWord(r), r.Op, stage)
}

// name is an instruction's opcode with its modifiers.
func (j *Judge) name(pc int32) string {
	in := j.Program.Inst(pc)
	if in == nil {
		return ""
	}
	return machine.Name(in)
}

// instr names an access by its instruction and line.
func (j *Judge) instr(r *order.AccessRef) string { return j.at(r.PC) }

func (j *Judge) at(pc int32) string {
	if n := j.name(pc); n != "" {
		return fmt.Sprintf("%s at %s", short(n), j.Program.Line(pc))
	}
	return "an unnamed instruction"
}

// short shortens a long mnemonic: the source line shows the rest.
func short(name string) string {
	for _, p := range []string{"cp.async.bulk.tensor", "cp.async.bulk", "cp.reduce.async.bulk", "cp.async.mbarrier.arrive", "cp.async", "st.async", "red.async", "wgmma.mma_async", "wgmma.wait_group"} {
		if strings.HasPrefix(name, p+".") {
			return p
		}
	}
	if op, rest, _ := strings.Cut(name, "."); op == ptx.ClassTcgen05 || len(op) > 16 {
		what, _, _ := strings.Cut(rest, ".")
		return op + "." + what
	}
	if strings.HasPrefix(name, "mbarrier.") {
		name = strings.TrimSuffix(name, ".b64")
		name, _, _ = strings.Cut(name, ".shared")
	}
	return name
}

// place names a range of memory.
func place(s machine.Span) string {
	if s.Mem == machine.Global {
		return fmt.Sprintf("%s at global+%#x of global memory", diag.Bytes(s.Len), s.Addr)
	}
	if s.Mem.Kind() == machine.TensorMemory {
		return fmt.Sprintf("%s of the tensor memory of CTA %d", machine.TensorCells(s.Addr, s.Len), s.Mem.CTA())
	}
	return fmt.Sprintf("%s at shared+%d of CTA %d", diag.Bytes(s.Len), s.Addr, s.Mem.CTA())
}

// agent names the agent of an access.
func agent(r *order.AccessRef) string {
	who := fmt.Sprintf("warp %d of CTA %d", r.Warp, r.CTA)
	if r.Op >= 0 {
		return fmt.Sprintf("%s of %s", opWord(r), who)
	}
	if bits.OnesCount32(r.Lanes) == 1 {
		return fmt.Sprintf("lane %d of %s", bits.TrailingZeros32(r.Lanes), who)
	}
	return who
}

// met returns the releases and acquires that observed each other but do not synchronize, of
// those that the text lets stand between two accesses; none if there are more than two pairs.
func (j *Judge) met(c *order.Conflict, relaxed bool) []order.Link {
	if c.Prior.PC < 0 || c.Cur.PC < 0 {
		return nil
	}
	var pairs []order.Link
	behind := j.Program.Reach(c.Prior.PC)
	for _, l := range j.Order.Links() {
		if l.Relaxed == relaxed && l.Release >= 0 && l.Acquire >= 0 && behind[l.Release] && j.Program.Reach(l.Acquire)[c.Cur.PC] {
			pairs = append(pairs, l)
		}
	}
	if len(pairs) > 2 {
		return nil
	}
	return pairs
}

// meeting names what met.
func (j *Judge) meeting(met []order.Link) string {
	var pairs []string
	for _, l := range met {
		pairs = append(pairs, fmt.Sprintf("%s and %s", j.at(l.Release), j.at(l.Acquire)))
	}
	return strings.Join(pairs, ", or ")
}
