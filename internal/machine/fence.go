package machine

import (
	"muster/internal/tma"
	"muster/ptx"
)

// Fences change nothing in this machine, whose memory is sequentially
// consistent within a schedule; what they order is for the observer.

type fenceInfo struct {
	fence Fence
	sem   Sem
	scope Scope
	space Spaces
	tmap  *access // of FenceProxyTensorMapAcquire
}

func decodeFence(d *decoder, in *ptx.Inst) error {
	fi := fenceInfo{fence: FenceMemory, sem: AcqRel, space: AllSpaces}
	if in.Op == "membar" {
		fi.sem = SC
	}
	for _, m := range in.Mods {
		known := true
		switch m {
		case "sc":
			fi.sem = SC
		case "acq_rel":
			fi.sem = AcqRel
		case "acquire":
			fi.sem = Acquire
		case "release":
			fi.sem = Release
		case "gl":
			fi.scope = ScopeGPU
		case "mbarrier_init":
			fi.fence = FenceMbarrierInit
		case "proxy": // which one follows
		case "async":
			fi.fence = FenceProxyAsync
		case "alias":
			fi.fence = FenceProxyAlias
		case "async::generic":
			fi.fence = FenceProxyAsyncGenericAcquire
		case "tensormap::generic":
			fi.fence = FenceProxyTensorMapAcquire
		case "global":
			fi.space = SpaceGlobal
		case "shared::cta", "sync_restrict::shared::cta":
			fi.space = SpaceSharedCTA
		case "shared::cluster", "sync_restrict::shared::cluster":
			fi.space = SpaceSharedCTA | SpaceSharedCluster
		default:
			known = false
		}
		if s, ok := scopes[m]; ok {
			fi.scope, known = s, true
		}
		if known {
			d.read(m)
		}
	}
	if fi.fence == FenceProxyAlias && fi.scope != NoScope {
		return errNotModelled // .alias.release.sys and .alias.acquire.sys
	}
	if fi.sem == Release {
		switch fi.fence {
		case FenceProxyAsyncGenericAcquire:
			fi.fence = FenceProxyAsyncGenericRelease
		case FenceProxyTensorMapAcquire:
			fi.fence = FenceProxyTensorMapRelease
		}
	}
	if fi.fence == FenceMemory && fi.scope == NoScope {
		return d.errorf("%s needs a scope", Name(in))
	}
	if fi.fence == FenceProxyTensorMapAcquire {
		if len(in.Operands) != 2 {
			return d.errorf("%s takes an address and a size", Name(in))
		}
		if n, ok := in.Operands[1].(ptx.Int); !ok || n.Bits != tma.Size {
			return d.errorf("%s takes a size of %d", Name(in), tma.Size)
		}
		fi.tmap = new(access)
		if err := d.mem(in.Operands[0], fi.tmap); err != nil {
			return err
		}
	}
	d.prog.sequential = d.prog.sequential || fi.fence == FenceMemory && fi.sem == SC
	d.emit(instr{class: visible, visit: visitFence, x: &fi})
	return nil
}

func visitFence(x *ctx, in *instr, mask uint32) verdict {
	fi := in.x.(*fenceInfo)
	x.quiet, x.idle = true, true
	ev := Event{Kind: EvFence, CTA: x.w.cta, Warp: x.w.index, Mask: mask, PC: x.s.pc,
		Fence: fi.fence, Sem: fi.sem, Scope: fi.scope, Space: fi.space}
	if fi.tmap != nil {
		x.addressesOf(fi.tmap, &x.m.addr)
		ev.Addr = &x.m.addr
	}
	x.m.emit(ev)
	return performed
}
