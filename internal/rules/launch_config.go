package rules

import (
	"fmt"
	"strings"

	"muster/internal/machine"
)

// A target has the limits of a family of devices.
type target struct {
	shared  uint64 // bytes a CTA, static and dynamic together
	cluster uint32 // CTAs, portable; 0: no clusters
	most    uint32 // CTAs, with the non-portable attribute
}

// targets has a row for each compute capability (CUDA C++ Programming Guide,
// technical specifications a compute capability: maximum shared memory a
// block, by opt-in).
var targets = map[string]target{
	"sm_50": {48 << 10, 0, 0}, "sm_52": {48 << 10, 0, 0}, "sm_53": {48 << 10, 0, 0},
	"sm_60": {48 << 10, 0, 0}, "sm_61": {48 << 10, 0, 0}, "sm_62": {48 << 10, 0, 0},
	"sm_70": {96 << 10, 0, 0}, "sm_72": {96 << 10, 0, 0}, "sm_75": {64 << 10, 0, 0},
	"sm_80": {163 << 10, 0, 0}, "sm_86": {99 << 10, 0, 0}, "sm_87": {163 << 10, 0, 0}, "sm_89": {99 << 10, 0, 0},
	"sm_90": {227 << 10, 8, 16}, "sm_100": {227 << 10, 8, 16}, "sm_103": {227 << 10, 8, 16},
	"sm_110": {227 << 10, 8, 16}, "sm_120": {99 << 10, 8, 8}, "sm_121": {99 << 10, 8, 8},
}

const (
	ctaRegisters    = 64 << 10
	threadRegisters = 255
)

// LaunchConfig returns what the target of the program would refuse in a
// launch, and where the launch differs from what the kernel declares.
func LaunchConfig(prog *machine.Program, cfg *machine.Launch) []Finding {
	p := prog.Entries()[cfg.Entry]
	var out []Finding
	bad := func(s Severity, part, missing, fix, format string, args ...any) {
		out = append(out, Finding{
			Kind: launchConfig.Name, Severity: s, Headline: fmt.Sprintf(format, args...), Count: 1,
			Sites: []Site{{Role: part, PC: 0}}, Missing: missing, Fix: fix,
		})
	}
	declared(p, cfg, bad)
	if p.SetsRegisters && cfg.Registers == 0 {
		out = append(out, registersIgnored(prog, p))
	}
	name, t, ok := targetOf(p)
	if !ok {
		return out
	}
	if bytes := p.Static + cfg.Shared; bytes > t.shared {
		bad(Error, "shared memory", fmt.Sprintf("a CTA on %s has at most %d bytes", name, t.shared), "make the tiles or the number of stages smaller",
			"the launch needs %d bytes of shared memory (%d static, %d dynamic)", bytes, p.Static, cfg.Shared)
	}
	switch n := volume(cfg.Cluster); {
	case n > 1 && t.cluster == 0:
		bad(Error, "cluster", fmt.Sprintf("%s has no clusters", name), "launch without a cluster, or compile for sm_90 or later", "the launch has clusters of %d CTAs", n)
	case t.cluster != 0 && n > t.most:
		bad(Error, "cluster", fmt.Sprintf("%s takes at most %d CTAs a cluster", name, t.most), "use a smaller cluster", "the launch has clusters of %d CTAs", n)
	case t.cluster != 0 && n > t.cluster:
		bad(Warning, "cluster", fmt.Sprintf("more than %d CTAs a cluster need the attribute NonPortableClusterSizeAllowed, and a device that can place them", t.cluster),
			"set the attribute, or use a smaller cluster", "the launch has clusters of %d CTAs", n)
	}
	switch n := volume(cfg.Preferred); {
	case t.cluster != 0 && n > t.most:
		bad(Error, "preferred cluster", fmt.Sprintf("%s takes at most %d CTAs a cluster", name, t.most), "use a smaller preferred cluster", "the launch prefers clusters of %d CTAs", n)
	case t.cluster != 0 && n > t.cluster && n != volume(cfg.Cluster):
		bad(Warning, "preferred cluster", fmt.Sprintf("more than %d CTAs a cluster need the attribute NonPortableClusterSizeAllowed, and a device that can place them", t.cluster),
			"set the attribute, or use a smaller preferred cluster", "the launch prefers clusters of %d CTAs", n)
	}
	registerLimits(p, cfg, bad)
	if most := resident(p, cfg); cfg.Cooperative && strings.HasPrefix(name, "sm_90") && ctas(cfg) > most {
		bad(Error, "grid", fmt.Sprintf("an H200 holds at most %d such CTAs, and a cooperative launch is refused if not all fit", most),
			"launch fewer CTAs and let each do more, or use less shared memory", "a cooperative launch of %d CTAs", ctas(cfg))
	}
	return out
}

// What the multiprocessors of an H200 have. No card of sm_90 has more.
const (
	processors      = 132
	processorWarps  = 64
	processorCTAs   = 32
	processorShared = 228 << 10
	reservedShared  = 1 << 10 // of each CTA, for the system
)

// resident returns how many CTAs of a launch an H200 holds at a time, or more: the registers
// that ptxas will give a thread are not known.
func resident(p *machine.Entry, cfg *machine.Launch) uint64 {
	each := min(processorCTAs, processorWarps/((volume(cfg.Block)+31)/32))
	bytes := (p.Static + cfg.Shared + reservedShared + 127) / 128 * 128
	return processors * min(uint64(each), processorShared/bytes)
}

func ctas(cfg *machine.Launch) uint64 {
	return uint64(cfg.Grid[0]) * uint64(cfg.Grid[1]) * uint64(cfg.Grid[2])
}

// A badFn enters a finding about one part of a launch.
type badFn func(s Severity, part, missing, fix, format string, args ...any)

// declared compares the launch with the kernel's directives.
func declared(p *machine.Entry, cfg *machine.Launch, bad badFn) {
	if p.ReqBlock != ([3]uint32{}) && p.ReqBlock != cfg.Block {
		bad(Error, "block", fmt.Sprintf("the kernel declares .reqntid %s", extents(p.ReqBlock)), "launch with that block", "the launch has blocks of %s threads", extents(cfg.Block))
	}
	if n := volume(cfg.Block); p.MaxThreads != 0 && n > p.MaxThreads {
		bad(Error, "block", fmt.Sprintf("the kernel declares .maxntid of %d threads", p.MaxThreads), "launch with a smaller block", "the launch has blocks of %d threads", n)
	}
	if n := volume(cfg.Cluster); p.MaxCluster != 0 && n > p.MaxCluster {
		bad(Error, "cluster", fmt.Sprintf("the kernel declares .maxclusterrank %d", p.MaxCluster), "launch with a smaller cluster", "the launch has clusters of %d CTAs", n)
	}
	if n := volume(cfg.Preferred); p.MaxCluster != 0 && n > p.MaxCluster {
		bad(Error, "preferred cluster", fmt.Sprintf("the kernel declares .maxclusterrank %d", p.MaxCluster), "launch with a smaller preferred cluster", "the launch prefers clusters of %d CTAs", n)
	}
	none := volume(cfg.Cluster) == 1
	switch {
	case p.ReqCluster != ([3]uint32{}) && p.ReqCluster != atLeastOne(cfg.Cluster):
		bad(Error, "cluster", fmt.Sprintf("the kernel declares .reqnctapercluster %s", extents(p.ReqCluster)), "launch with that cluster", "the launch has clusters of %s CTAs", extents(atLeastOne(cfg.Cluster)))
	case p.ReqCluster == ([3]uint32{}) && p.Explicit && none && cfg.Cluster == ([3]uint32{}):
		bad(Error, "cluster", "the kernel declares .explicitcluster", "state the cluster of the launch", "the launch has no cluster")
	}
}

func registerLimits(p *machine.Entry, cfg *machine.Launch, bad badFn) {
	regs := max(cfg.Registers, p.MaxRegs)
	if regs > threadRegisters+1 {
		bad(Error, "registers", fmt.Sprintf("a thread has at most %d registers", threadRegisters), "ask for fewer", "the launch gives each thread %d registers", regs)
		return
	}
	// A warp's registers are allocated in units of 256.
	warps := (volume(cfg.Block) + 31) / 32
	if n := warps * ((regs*32 + 255) / 256 * 256); n > ctaRegisters {
		bad(Error, "registers", fmt.Sprintf("a CTA has at most %d registers", ctaRegisters), "use fewer threads or fewer registers a thread", "%d warps of %d registers a thread need %d", warps, regs, n)
	}
}

// targetOf returns the program's target without its suffix.
func targetOf(p *machine.Entry) (string, target, bool) {
	for _, t := range p.Module.Target {
		if strings.HasPrefix(t, "sm_") {
			name := strings.TrimRight(t, "af")
			row, ok := targets[name]
			return t, row, ok
		}
	}
	return "", target{}, false
}

func volume(d [3]uint32) uint32 { d = atLeastOne(d); return d[0] * d[1] * d[2] }

func atLeastOne(d [3]uint32) [3]uint32 {
	for i := range d {
		d[i] = max(d[i], 1)
	}
	return d
}

func extents(d [3]uint32) string { return fmt.Sprintf("%dx%dx%d", d[0], d[1], d[2]) }
