package order_test

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"muster/internal/machine"
	"muster/internal/order"
)

// A script drives a Tracker with one line an event. A line is
//
//	AGENTS: OP ARGUMENTS
//
// where AGENTS is [cC.]wW[.LANES][,...] (CTA 0 if left out; lanes as 3, 0-15 or
// 0-3+8; all if left out), and its PC is its line number. OPs:
//
//	st|ld|ldnc|atom|red MEM ADDR [SIZE] [same|one] [SEM.SCOPE] [val=N]
//	                          lane l at ADDR+l*SIZE; same: all at ADDR
//	syncwarp                  bar.warp.sync
//	shfl                      shfl, or another collective that hands values on and orders no memory
//	elect                     elect.sync, which hands none on
//	sync ID                   all the agents arrive at a named barrier, and pass
//	join, pass ID gen=N       the two halves of it; arrive ID gen=N: bar.arrive
//	init|inval|marrive|mwait MEM ADDR [phase=N] [SEM.SCOPE]
//	fence SEM.SCOPE [shared]; initfence
//	proxy|proxy.acquire|proxy.release [global|cta|cluster]
//	mapfence release|acquire ADDR [scope=gpu]
//	bulk|reduce|cpasync|stasync|redasync|noinc|tensor|cancel NAME [read=MEM:ADDR+N] [write=MEM:ADDR+N] [bar=MEM:ADDR] [map=MEM:ADDR+N] [after=N] [stride=N] [elem=N]
//	signal NAME phase=N[,N]
//	groupwait|groupread bulk|cpasync N
//	carrive|cwait gen=N [relaxed]
//	refused                   a request of the CTA for a cluster is seen to have failed
//	exit; end
//
// MEM is g, s (the agent's own CTA's shared memory) or s and a CTA's number.
type script struct {
	tr    *order.Tracker
	mem   fakeMemory
	gens  map[[2]int32]uint64
	ops   map[string]*machine.Op
	seq   map[[4]int32]uint32
	warps int
	pc    int32
	ids   int64
}

type fakeMemory map[[2]int64]uint64

func (m fakeMemory) Peek(mem machine.MemID, addr uint64, size int) (uint64, bool) {
	v, ok := m[[2]int64{int64(mem), int64(addr)}]
	return v, ok
}

type agent struct {
	cta, warp int32
	mask      uint32
}

func newScript(cfg order.Config) *script {
	return &script{
		tr: order.New(cfg), mem: fakeMemory{}, warps: cfg.Warps,
		gens: map[[2]int32]uint64{}, ops: map[string]*machine.Op{}, seq: map[[4]int32]uint32{},
	}
}

// line executes one line.
func (s *script) line(n int, text string) error {
	if i := strings.IndexByte(text, '#'); i >= 0 {
		text = text[:i]
	}
	text = strings.TrimSpace(text)
	if text == "" {
		return nil
	}
	s.pc = int32(n)
	who, what, ok := strings.Cut(text, ":")
	if !ok {
		return fmt.Errorf("no agent in %q", text)
	}
	var agents []agent
	for _, a := range strings.Split(who, ",") {
		ag, err := parseAgent(strings.TrimSpace(a))
		if err != nil {
			return err
		}
		agents = append(agents, ag)
	}
	f := strings.Fields(what)
	if f[0] == "sync" {
		s.sync(agents, num(f[1]))
		return nil
	}
	for _, a := range agents {
		if err := s.do(a, f[0], f[1:]); err != nil {
			return err
		}
	}
	return nil
}

func parseAgent(s string) (agent, error) {
	a := agent{mask: ^uint32(0)}
	for i, p := range strings.Split(s, ".") {
		switch {
		case strings.HasPrefix(p, "c"):
			a.cta = int32(num(p[1:]))
		case strings.HasPrefix(p, "w"):
			a.warp = int32(num(p[1:]))
		case i > 0 && p != "":
			a.mask = 0
			for _, r := range strings.Split(p, "+") {
				lo, hi, ok := strings.Cut(r, "-")
				if !ok {
					hi = lo
				}
				for l := num(lo); l <= num(hi); l++ {
					a.mask |= 1 << l
				}
			}
		default:
			return a, fmt.Errorf("bad agent %q", s)
		}
	}
	return a, nil
}

func num(s string) int {
	n, err := strconv.ParseInt(s, 0, 64)
	if err != nil {
		panic(err)
	}
	return int(n)
}

func (s *script) feed(a agent, ev machine.Event) {
	ev.CTA, ev.Warp, ev.Mask, ev.PC = a.cta, a.warp, a.mask, s.pc
	ev.Lane = int8(bits.TrailingZeros32(a.mask))
	s.tr.Feed(s.mem, &ev)
}

func (s *script) sync(agents []agent, id int) {
	gen := s.gens[[2]int32{agents[0].cta, int32(id)}]
	s.gens[[2]int32{agents[0].cta, int32(id)}]++
	for _, a := range agents {
		s.feed(a, machine.Event{Kind: machine.EvBarArrive, Bar: int32(id), Gen: gen})
	}
	for _, a := range agents {
		s.feed(a, machine.Event{Kind: machine.EvBarPass, Bar: int32(id), Gen: gen})
	}
}

// args splits options from operands.
type args struct {
	plain []string
	opt   map[string]string
}

func split(f []string) args {
	a := args{opt: map[string]string{}}
	for _, x := range f {
		if k, v, ok := strings.Cut(x, "="); ok {
			a.opt[k] = v
		} else {
			a.plain = append(a.plain, x)
		}
	}
	return a
}

func (a *args) has(word string) bool {
	for i, p := range a.plain {
		if p == word {
			a.plain = append(a.plain[:i:i], a.plain[i+1:]...)
			return true
		}
	}
	return false
}

var sems = map[string]machine.Sem{
	"weak": machine.Weak, "volatile": machine.Volatile, "mmio": machine.MMIO, "relaxed": machine.Relaxed, "acquire": machine.Acquire,
	"release": machine.Release, "acq_rel": machine.AcqRel, "sc": machine.SC,
}

var scopes = map[string]machine.Scope{
	"": machine.NoScope, "cta": machine.ScopeCTA, "cluster": machine.ScopeCluster, "gpu": machine.ScopeGPU, "sys": machine.ScopeSys,
}

// sem takes the SEM.SCOPE operand, if there is one.
func (a *args) sem() (machine.Sem, machine.Scope, bool) {
	for i, p := range a.plain {
		x, y, _ := strings.Cut(p, ".")
		if s, ok := sems[x]; ok {
			a.plain = append(a.plain[:i:i], a.plain[i+1:]...)
			return s, scopes[y], true
		}
	}
	return machine.Weak, machine.NoScope, false
}

func (s *script) memory(a agent, name string) machine.MemID {
	switch {
	case name == "g":
		return machine.Global
	case name == "s":
		return machine.SharedOf(a.cta)
	}
	return machine.SharedOf(int32(num(name[1:])))
}

func (s *script) span(a agent, text string) machine.Span {
	m, rest, _ := strings.Cut(text, ":")
	at, n, _ := strings.Cut(rest, "+")
	sp := machine.Span{Mem: s.memory(a, m), Addr: uint64(num(at))}
	if n != "" {
		sp.Len = uint64(num(n))
	}
	return sp
}

// shifted moves a span by the lane's stride.
func (a *args) shifted(sp machine.Span, lane int8) machine.Span {
	if v, ok := a.opt["stride"]; ok {
		sp.Addr += uint64(num(v)) * uint64(lane)
	}
	return sp
}

func (s *script) bar(a agent, mem, addr string) machine.BarRef {
	return machine.BarRef{Mem: s.memory(a, mem), Addr: uint64(num(addr))}
}

var groups = map[string]machine.Group{"bulk": machine.GroupBulk, "cpasync": machine.GroupCpAsync}

func (s *script) do(a agent, op string, f []string) error {
	g := split(f)
	switch op {
	case "st", "ld", "ldnc", "atom", "red":
		s.access(a, op, &g)
	case "syncwarp":
		s.feed(a, machine.Event{Kind: machine.EvWarpSync})
	case "shfl":
		s.feed(a, machine.Event{Kind: machine.EvCollective, Tells: true})
	case "elect":
		s.feed(a, machine.Event{Kind: machine.EvCollective})
	case "arrive", "join":
		s.feed(a, machine.Event{Kind: machine.EvBarArrive, Bar: int32(num(g.plain[0])), Gen: uint64(num(g.opt["gen"])), Mode: map[string]machine.BarMode{"arrive": machine.BarArrive, "join": machine.BarSync}[op]})
	case "pass":
		s.feed(a, machine.Event{Kind: machine.EvBarPass, Bar: int32(num(g.plain[0])), Gen: uint64(num(g.opt["gen"]))})
	case "init", "inval", "marrive", "mwait":
		s.mbar(a, op, &g)
	case "fence":
		sem, scope, _ := g.sem()
		ev := machine.Event{Kind: machine.EvFence, Sem: sem, Scope: scope}
		if g.has("shared") {
			ev.Space = machine.SpaceSharedCTA | machine.SpaceSharedCluster
		}
		s.feed(a, ev)
	case "initfence":
		s.feed(a, machine.Event{Kind: machine.EvFence, Fence: machine.FenceMbarrierInit, Sem: machine.Release, Scope: machine.ScopeCluster})
	case "proxy", "proxy.acquire", "proxy.release":
		s.proxy(a, op, &g)
	case "mapfence":
		ev := machine.Event{Kind: machine.EvFence, Fence: machine.FenceProxyTensorMapRelease, Scope: machine.ScopeGPU}
		if sc, ok := g.opt["scope"]; ok {
			ev.Scope = scopes[sc]
		}
		if g.plain[0] == "acquire" {
			ev.Fence = machine.FenceProxyTensorMapAcquire
			ev.Addr = new([32]uint64)
			for l := range ev.Addr {
				ev.Addr[l] = uint64(num(g.plain[1]))
			}
		}
		s.feed(a, ev)
	case "bulk", "reduce", "cpasync", "stasync", "redasync", "noinc", "tensor", "cancel":
		s.issue(a, op, &g)
	case "signal":
		o := s.ops[g.plain[0]]
		o.Stage = machine.Signalled
		for _, p := range strings.Split(g.opt["phase"], ",") {
			o.Phases = append(o.Phases, int64(num(p)))
		}
		s.feed(a, machine.Event{Kind: machine.EvSignal, Op: o})
	case "groupwait", "groupread":
		ev := machine.Event{Kind: machine.EvGroupWait, Group: groups[g.plain[0]], Read: op == "groupread", Done: new([32]uint32)}
		for l := range ev.Done {
			ev.Done[l] = uint32(num(g.plain[1]))
		}
		s.feed(a, ev)
	case "carrive", "cwait":
		ev := machine.Event{Kind: machine.EvClusterArrive, Sem: machine.Release, Gen: uint64(num(g.opt["gen"]))}
		if op == "cwait" {
			ev.Kind, ev.Sem = machine.EvClusterWait, machine.Acquire
		}
		if g.has("relaxed") {
			ev.Sem = machine.Relaxed
		}
		s.feed(a, ev)
	case "refused":
		s.feed(a, machine.Event{Kind: machine.EvRefused})
	case "exit":
		s.feed(a, machine.Event{Kind: machine.EvExit})
	case "end":
		s.feed(a, machine.Event{Kind: machine.EvEnd})
	default:
		return fmt.Errorf("no such operation %q", op)
	}
	return nil
}

func (s *script) access(a agent, op string, g *args) {
	ev := machine.Event{Kind: machine.EvAccess, Size: 4, Addr: new([32]uint64)}
	ev.Access = map[string]machine.Access{
		"st": machine.Write, "ld": machine.Read, "ldnc": machine.Read,
		"atom": machine.Read | machine.Write | machine.Update, "red": machine.Write | machine.Update,
	}[op]
	if op == "ldnc" {
		ev.Proxy = machine.Constant
	}
	ev.Sem, ev.Scope, _ = g.sem()
	same := g.has("same") || bits.OnesCount32(a.mask) == 1
	ev.Mem = s.memory(a, g.plain[0])
	base := uint64(num(g.plain[1]))
	if len(g.plain) > 2 {
		ev.Size = int32(num(g.plain[2]))
	}
	for l := range ev.Addr {
		ev.Addr[l] = base
		if !same {
			ev.Addr[l] += uint64(l) * uint64(ev.Size)
		}
	}
	ev.Row = !same && a.mask == ^uint32(0)
	if v, ok := g.opt["val"]; ok {
		ev.Val = make([][32]uint64, 1)
		for l := range ev.Val[0] {
			ev.Val[0][l] = uint64(num(v))
		}
	}
	s.feed(a, ev)
	if ev.Val != nil && ev.Access == machine.Write {
		for m := a.mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			s.mem[[2]int64{int64(ev.Mem), int64(ev.Addr[l])}] = ev.Val[0][l]
		}
	}
}

func (s *script) mbar(a agent, op string, g *args) {
	ev := machine.Event{Kind: machine.EvMbar}
	var given bool
	ev.Sem, ev.Scope, given = g.sem()
	ev.Mbar.Bar = s.bar(a, g.plain[0], g.plain[1])
	if p, ok := g.opt["phase"]; ok {
		ev.Mbar.Phase = int64(num(p))
	}
	if !given {
		ev.Scope, ev.ScopeDefaulted, ev.SemDefaulted = machine.ScopeCTA, true, true
	}
	switch op {
	case "init":
		ev.Mbar.Op, ev.Sem = machine.MbarInit, machine.Weak
	case "inval":
		ev.Mbar.Op, ev.Sem = machine.MbarInval, machine.Weak
	case "marrive":
		ev.Mbar.Op = machine.MbarArrive
		if !given {
			ev.Sem = machine.Release
		}
		for m := a.mask; m != 0; m &= m - 1 {
			s.feed(agent{a.cta, a.warp, m & -m}, ev)
		}
		return
	case "mwait":
		ev.Kind, ev.Mbar.Op, ev.Mbar.OK = machine.EvMbarWait, machine.MbarTry, true
		if !given {
			ev.Sem = machine.Acquire
		}
	}
	s.feed(a, ev)
}

func (s *script) proxy(a agent, op string, g *args) {
	ev := machine.Event{Kind: machine.EvFence, Fence: machine.FenceProxyAsync, Space: machine.AllSpaces}
	switch op {
	case "proxy.acquire":
		ev.Fence, ev.Space = machine.FenceProxyAsyncGenericAcquire, machine.SpaceSharedCluster
	case "proxy.release":
		ev.Fence, ev.Space = machine.FenceProxyAsyncGenericRelease, machine.SpaceSharedCTA
	}
	switch {
	case g.has("global"):
		ev.Space = machine.SpaceGlobal
	case g.has("cta"):
		ev.Space = machine.SpaceSharedCTA
	case g.has("cluster"):
		ev.Space = machine.SpaceSharedCluster
	}
	s.feed(a, ev)
}

func (s *script) issue(a agent, op string, g *args) {
	kinds := map[string]machine.OpKind{
		"bulk": machine.OpBulkCopy, "reduce": machine.OpBulkReduce, "cpasync": machine.OpCpAsync, "tensor": machine.OpBulkCopy,
		"stasync": machine.OpStAsync, "redasync": machine.OpRedAsync, "noinc": machine.OpMbarArrive, "cancel": machine.OpCancel,
	}
	for m := a.mask; m != 0; m &= m - 1 {
		lane := m & -m
		o := &machine.Op{ID: s.ids, Kind: kinds[op], CTA: a.cta, Warp: a.warp, Lane: int8(bits.TrailingZeros32(lane)), PC: s.pc}
		s.ids++
		if op == "noinc" {
			o.Tracks = machine.GroupCpAsync
		}
		if op == "bulk" || op == "reduce" {
			o.Proxy = machine.Async
		}
		if op == "reduce" || op == "redasync" {
			if o.Element = 4; g.opt["elem"] != "" {
				o.Element = int32(num(g.opt["elem"]))
			}
		}
		for _, r := range strings.Split(g.opt["read"], ",") {
			if r != "" {
				o.Reads = append(o.Reads, g.shifted(s.span(a, r), o.Lane))
			}
		}
		for _, w := range strings.Split(g.opt["write"], ",") {
			if w != "" {
				o.Writes = append(o.Writes, g.shifted(s.span(a, w), o.Lane))
			}
		}
		for _, b := range strings.Split(g.opt["bar"], ",") {
			if b != "" {
				sp := s.span(a, b)
				o.Bars = append(o.Bars, machine.BarRef{Mem: sp.Mem, Addr: sp.Addr})
			}
		}
		switch {
		case op == "cpasync":
			o.Group = machine.GroupCpAsync
		case op == "tensor":
			o.Proxy = machine.TensorMap
			if m := g.opt["map"]; m != "" { // a load in a bulk group
				o.Map, o.Proxy = s.span(a, m), machine.Async
				k := [4]int32{a.cta, a.warp, int32(o.Lane), int32(machine.GroupBulk)}
				s.seq[k]++
				o.MapSeq = s.seq[k]
			}
		case len(o.Bars) == 0:
			o.Group = machine.GroupBulk
		}
		if o.Group != machine.NoGroup {
			k := [4]int32{a.cta, a.warp, int32(o.Lane), int32(o.Group)}
			s.seq[k]++
			o.Seq = s.seq[k]
		}
		if v, ok := g.opt["after"]; ok {
			o.After = uint32(num(v))
		}
		s.ops[g.plain[0]] = o
		s.feed(agent{a.cta, a.warp, lane}, machine.Event{Kind: machine.EvIssue, Op: o})
	}
}

var whyNames = []string{
	"no-edge", "if-proxy-fence", "if-scope-wider", "if-not-relaxed", "same-warp-lanes", "in-flight",
	"partial-overlap", "async-other-cta", "same-value", "stale-constant", "not-morally-strong", "issue-known",
}

func whyText(w order.Why) string {
	var out []string
	for i, n := range whyNames {
		if w>>i&1 != 0 {
			out = append(out, n)
		}
	}
	return strings.Join(out, " ")
}

func refText(r *order.AccessRef) string {
	what := map[machine.Access]string{
		machine.Read: "read", machine.Write: "write", machine.Read | machine.Write | machine.Update: "rmw", machine.Write | machine.Update: "red",
	}[r.Access]
	who := fmt.Sprintf("line %d c%d.w%d.%s %s", r.PC, r.CTA, r.Warp, lanesText(r.Lanes), what)
	if r.Op >= 0 {
		who += fmt.Sprintf(" (op %d)", r.Op)
	}
	return strings.TrimSpace(who)
}

func lanesText(m uint32) string {
	if m == ^uint32(0) {
		return "all"
	}
	if bits.OnesCount32(m) == 1 {
		return strconv.Itoa(bits.TrailingZeros32(m))
	}
	return fmt.Sprintf("%#x", m)
}

func memText(m machine.MemID) string {
	if m == machine.Global {
		return "g"
	}
	return fmt.Sprintf("s%d", m)
}

var factNames = []string{"scope-defaulted", "init-not-ordered", "inval-not-ordered", "barrier-touched", "exit-in-flight", "exit-before-remote", "remote-before-start", "group-left", "ask-unordered"}

// report prints all that was found.
func (s *script) report() string {
	var b strings.Builder
	for _, c := range s.tr.Conflicts() {
		fmt.Fprintf(&b, "%s, %s, %s:%d+%d: %s", refText(&c.Prior), refText(&c.Cur), memText(c.Span.Mem), c.Span.Addr, c.Span.Len, whyText(c.Why))
		if c.Count > 1 {
			fmt.Fprintf(&b, " x%d", c.Count)
		}
		b.WriteByte('\n')
	}
	for _, f := range s.tr.FactList() {
		fmt.Fprintf(&b, "%s: c%d line %d, c%d line %d", factNames[f.Kind], f.A.CTA, f.A.PC, f.B.CTA, f.B.PC)
		if f.Why != 0 {
			fmt.Fprintf(&b, ": %s", whyText(f.Why))
		}
		b.WriteByte('\n')
	}
	if b.Len() == 0 {
		return "ordered\n"
	}
	return b.String()
}
