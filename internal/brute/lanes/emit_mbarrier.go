package lanes

import (
	"fmt"
	"strings"
)

// copies reports whether a program copies anything.
func (p *Program) copies() bool {
	for _, ops := range p.Warps {
		for _, o := range ops {
			if o.copies() {
				return true
			}
		}
	}
	return false
}

// source writes the variable that copies read.
func (e *emitter) source() {
	var words []string
	for i := range Words {
		words = append(words, fmt.Sprint(Source+i))
	}
	fmt.Fprintf(e, ".global .align 16 .b32 source[%d] = {%s};\n", Words, strings.Join(words, ", "))
}

// mbarrier writes an operation at an mbarrier, or a copy.
func (e *emitter) mbarrier(o Op, only string) {
	bar := fmt.Sprintf("[%%r3+%d]", 8*o.Bar)
	if o.Spread {
		e.line("and.b32 %%r12, %%r5, 1;")
		e.line("xor.b32 %%r12, %%r12, %d;", o.Bar)
		e.line("mad.lo.u32 %%r12, %%r12, 8, %%r3;")
		bar = "[%r12]"
	}
	token := "_"
	if o.Keep {
		token = "%token0"
	}
	switch o.Kind {
	case Arrive:
		if o.N > 1 {
			bar += fmt.Sprint(", ", o.N)
		}
		e.line(only+"mbarrier.arrive.shared::cta.b64 %s, %s;", token, bar)
	case ArriveTx:
		e.line(only+"mbarrier.arrive.expect_tx.shared::cta.b64 %s, %s, %d;", token, bar, 4*Box*int(o.N))
	case NoComplete:
		if !o.Keep {
			token = "%token1"
		}
		e.line(only+"mbarrier.arrive.noComplete.shared::cta.b64 %s, %s, 1;", token, bar)
	case Drop:
		e.line(only+"mbarrier.arrive_drop.shared::cta.b64 %s, %s;", token, bar)
	case Expect:
		e.line(only+"mbarrier.expect_tx.relaxed.cta.shared::cta.b64 %s, %d;", bar, 4*Box*int(o.N))
	case Wait:
		e.wait("try_wait.parity", bar, e.parity(o))
	case WaitToken:
		e.wait("try_wait", bar, "%token0")
	case Test:
		e.line(only+"mbarrier.test_wait.parity.shared::cta.b64 %%p6, %s, %s;", bar, e.parity(o))
		e.line(only+"selp.u32 %%v%d, 1, 0, %%p6;", o.Reg)
	case Inval:
		e.line(only+"mbarrier.inval.shared::cta.b64 %s;", bar)
	case Init:
		e.line(only+"mbarrier.init.shared::cta.b64 %s, %d;", bar, o.N)
		if e.p.copies() {
			e.line(only + "fence.proxy.async;")
		}
	case Bulk:
		from := "[%rd5]"
		e.line("mov.u32 %%r9, %%r5;")
		e.line("and.b32 %%r9, %%r9, %d;", MaxLanes-1)
		e.line("mul.wide.u32 %%rd3, %%r9, %d;", 4*Box)
		e.line("mov.u64 %%rd5, source;")
		e.line("add.u64 %%rd5, %%rd5, %%rd3;")
		e.line("add.u32 %%r9, %%r5, %d;", o.Index/Box)
		e.line("and.b32 %%r9, %%r9, %d;", Words/Box-1)
		e.line("mad.lo.u32 %%r9, %%r9, %d, %%r2;", 4*Box)
		e.line(only+"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%%r9+%d], %s, %d, %s;", 4*Words*int(o.Area), from, 4*Box, bar)
	case CopyAsync:
		e.line("and.b32 %%r9, %%r5, %d;", MaxLanes-1)
		e.line("mul.wide.u32 %%rd5, %%r9, 4;")
		e.line("mov.u64 %%rd6, source;")
		e.line("add.u64 %%rd5, %%rd6, %%rd5;")
		e.line(only+"cp.async.ca.shared.global %s, [%%rd5], 4;", e.address(o))
	case ArriveAsync:
		noinc := ""
		if o.N == 1 {
			noinc = ".noinc"
		}
		e.line(only+"cp.async.mbarrier.arrive%s.shared::cta.b64 %s;", noinc, bar)
	case Drain:
		e.line(only + "cp.async.wait_all;")
	}
}

// parity returns the parity that an operation tests for.
func (e *emitter) parity(o Op) string {
	if !e.grows(o) {
		return fmt.Sprint(o.N)
	}
	e.line("mad.lo.u32 %%r9, %%r14, %d, %d;", o.Turn, o.N)
	e.line("and.b32 %%r9, %%r9, 1;")
	return "%r9"
}

// wait tests again and again.
func (e *emitter) wait(how, bar, until string) {
	l := e.label()
	e.WriteString(l + ":\n")
	e.line("mbarrier.%s.shared::cta.b64 %%p6, %s, %s;", how, bar, until)
	e.again("@!%p6", l)
}
