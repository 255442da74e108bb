package flow

// preserved reports whether an order of two overlapping accesses in base causality order is
// proxy-preserved (ISA 8.9.5): both by the generic proxy at one address, or by one proxy in
// one CTA, or with a proxy fence on the way for each change of proxy, of a CTA whose accesses
// it is for, and an alias fence in between if the virtual addresses differ. (The ISA's third
// case names the alias fence alone; the others follow 8.6, and Lustig, Cooksey and Giroux,
// Mixed-Proxy Extensions for the NVIDIA PTX Memory Consistency Model, ISCA 2022.)
func (g *graph) preserved(a, b int) bool {
	x, y := &g.ev[a], &g.ev[b]
	if x.virtual == y.virtual && x.proxy == y.proxy && (x.proxy == Generic || g.th[x.thread].cta == g.th[y.thread].cta) {
		return true
	}
	on := g.base[a]
	if x.proxy != Generic {
		on = g.past(g.base[a], x.proxy, g.th[x.thread].cta)
	}
	if x.virtual != y.virtual {
		on = g.past(on, Alias, -1)
	}
	if y.proxy != Generic {
		on = g.past(on, y.proxy, g.th[y.thread].cta)
	}
	return on.has(b)
}

// past returns what follows the fences of a proxy among some events, of one CTA's threads, or
// of any if cta is negative.
func (g *graph) past(among set, p Proxy, cta int) set {
	var after set
	for s := among; s != 0; s &= s - 1 {
		f := trailing(s)
		if e := &g.ev[f]; e.kind == proxyFence && e.proxy == p && (cta < 0 || g.th[e.thread].cta == cta) {
			after |= g.base[f]
		}
	}
	return after
}
