package campaign

import (
	"fmt"
	"strings"

	"muster/ptx"
)

// A script is a program written by hand: its body, where $a, $b, … are 32-bit
// operands and $r, $s, … results, and what it needs at module scope.
type script struct {
	form, text, module, body string
}

func (s *script) build() Case {
	p := newProgram(s.form)
	p.module = s.module
	body := s.body
	for _, v := range []string{"$a", "$b", "$c"} {
		if strings.Contains(body, v) {
			body = strings.ReplaceAll(body, v, p.in("u32", "u32"))
		}
	}
	for _, v := range []string{"$r", "$s"} {
		if strings.Contains(body, v) {
			body = strings.ReplaceAll(body, v, p.zeroed("u32"))
		}
	}
	for line := range strings.Lines(body) {
		p.emit("%s", strings.TrimSpace(line))
	}
	return p.finish(s.text)
}

const functions = `
.func (.param .b32 res) mix(.param .b32 x, .param .align 8 .b8 pair[16])
{
	.reg .b32 a, b, c, d;
	ld.param.b32 a, [x];
	ld.param.v2.b32 {b, c}, [pair];
	ld.param::func.b32 d, [pair+12];
	mad.lo.u32 a, a, b, c;
	xor.b32 a, a, d;
	st.param.b32 [res], a;
	ret;
}
.func (.param .b32 res) sums(.param .b32 n)
{
	.reg .b32 a, b;
	.reg .pred p;
	ld.param.b32 a, [n];
	setp.eq.u32 p, a, 0;
	@p bra ZERO;
	sub.u32 b, a, 1;
	{
		.param .b32 arg;
		.param .b32 got;
		st.param.b32 [arg], b;
		call.uni (got), sums, (arg);
		ld.param.b32 b, [got];
	}
	add.u32 a, a, b;
ZERO:
	st.param.b32 [res], a;
	ret.uni;
}
.func (.reg .b32 res) twice(.reg .b32 x)
{
	.reg .pred p;
	setp.gt.s32 p, x, 0;
	add.u32 res, x, x;
	@p ret;
	not.b32 res, res;
	ret;
}
.func (.reg .b32 res) thrice(.reg .b32 x)
{
	mul.lo.u32 res, x, 3;
	ret;
}
.global .u64 table[2] = {twice, thrice};
`

const passPair = `{
.param .b32 x;
.param .align 8 .b8 pair[16];
.param .b32 got;
st.param.b32 [x], $a;
st.param.v2.b32 [pair], {$b, $c};
st.param::func.b32 [pair+12], $a;
call%s (got), mix, (x, pair);
ld.param.b32 $r, [got];
}`

const indirect = `{
.reg .b64 f, i;
.reg .b32 n;
and.b32 n, $a, 1;
mul.wide.u32 i, n, 8;
mov.u64 f, table;
add.u64 f, f, i;
ld.global.u64 f, [f];
proto: .callprototype (.reg .b32 res) _ (.reg .b32 x);
call%s ($r), f, ($b), proto;
}`

// steps counts the steps of 3n+1: threads of a warp loop differently often.
const steps = `{
.reg .b32 n, m, i;
.reg .pred p, odd;
and.b32 n, $a, 0xff;
mov.u32 i, 0;
LOOP:
setp.le.u32 p, n, 1;
@p bra%s STOP;
and.b32 m, n, 1;
setp.ne.u32 odd, m, 0;
@!odd bra EVEN;
mad.lo.u32 n, n, 3, 1;
bra.uni NEXT;
EVEN:
shr.u32 n, n, 1;
NEXT:
add.u32 i, i, 1;
bra LOOP;
STOP:
mov.u32 $r, i;
}`

const branches = `{
.reg .b32 n;
and.b32 n, $a, 3;
where: .branchtargets L0, L1, L2, L1;
brx.idx n, where;
L0:
add.u32 $r, $b, 10;
bra.uni END;
L1:
mul.lo.u32 $r, $b, 7;
bra.uni END;
L2:
not.b32 $r, $b;
END:
}`

var scripts = []script{
	{"bra", "loops of different length", "", fmt.Sprintf(steps, "")},
	{"bra", "bra.uni over nothing", "", "add.u32 $r, $a, $b;\nbra.uni ON;\nmov.u32 $r, 0;\nON:"},
	{"bra", "guards", "", "{\n.reg .pred p;\nsetp.lt.s32 p, $a, $b;\n@p add.u32 $r, $a, 1;\n@!p sub.u32 $r, $b, 1;\n@p bra ON;\nxor.b32 $r, $r, 0x5a5a5a5a;\nON:\n}"},
	{"brx.idx", "brx.idx, divergent", "", branches},
	{"brx.idx", "brx.idx.uni", "", strings.NewReplacer("brx.idx", "brx.idx.uni", "$a, 3", "%cx, 3").Replace(branches)},
	{"call", "call with parameters in memory", functions, fmt.Sprintf(passPair, "")},
	{"call", "call.uni with parameters in memory", functions, fmt.Sprintf(passPair, ".uni")},
	{"call", "recursion of different depth", functions, "{\n.reg .b32 n;\n.param .b32 arg;\n.param .b32 got;\nand.b32 n, $a, 15;\nst.param.b32 [arg], n;\ncall (got), sums, (arg);\nld.param.b32 $r, [got];\n}"},
	{"ret", "ret under a guard, from registers", functions, "call ($r), twice, ($a);"},
	{"ret", "ret.uni", functions, "{\n.param .b32 arg;\n.param .b32 got;\nst.param.b32 [arg], 9;\ncall.uni (got), sums, (arg);\nld.param.b32 $r, [got];\nadd.u32 $r, $r, $a;\n}"},
	{"ret", "ret from the kernel under a guard", "", "{\n.reg .pred p;\nsetp.gt.s32 p, $a, 0;\n@p ret;\nmov.u32 $r, $a;\n}"},
	{"call.indirect", "call through a table, divergent", functions, fmt.Sprintf(indirect, "")},
	{"call.indirect", "call.uni through a table", functions, strings.Replace(fmt.Sprintf(indirect, ".uni"), "$a, 1", "%cx, 1", 1)},
	{"exit", "exit under a guard", "", "{\n.reg .pred p;\nsetp.gt.s32 p, $a, 0;\n@p exit;\nmov.u32 $r, $a;\n}"},
	{"nanosleep", "nanosleep", "", "nanosleep.u32 20;\nmov.u32 $r, $a;"},
	{"griddepcontrol", "griddepcontrol.launch_dependents", "", "griddepcontrol.launch_dependents;\nmov.u32 $r, $a;"},
	{"griddepcontrol", "griddepcontrol.wait", "", "griddepcontrol.wait;\nmov.u32 $r, $a;"},
	{"pmevent", "pmevent", "", "pmevent 3;\nmov.u32 $r, $a;"},
	{"pmevent.mask", "pmevent.mask", "", "pmevent.mask 0x0006;\nmov.u32 $r, $a;"},
	{"prefetch", "prefetch.global.L1", "", "prefetch.global.L1 [%in];\nmov.u32 $r, $a;"},
	{"prefetch", "prefetch.global.L2", "", "prefetch.global.L2 [%in];\nmov.u32 $r, $a;"},
	{"prefetch", "prefetch.L1", "", "prefetch.L1 [%in];\nmov.u32 $r, $a;"},
	{"prefetch", "prefetch.L2", "", "prefetch.L2 [%in];\nmov.u32 $r, $a;"},
	{"prefetch", "prefetch.local.L1", "", ".local .b32 own[4];\n{\n.reg .b64 l;\nmov.u64 l, own;\nprefetch.local.L1 [l];\nst.local.b32 [l], $a;\nld.local.b32 $r, [l];\n}"},
	{"prefetch.evict", "prefetch.global.L2::evict_last", "", "prefetch.global.L2::evict_last [%in];\nmov.u32 $r, $a;"},
	{"prefetch.evict", "prefetch.global.L2::evict_normal", "", "prefetch.global.L2::evict_normal [%in];\nmov.u32 $r, $a;"},
	{"prefetchu", "prefetchu.L1", "", "prefetchu.L1 [%in];\nmov.u32 $r, $a;"},
	{"applypriority", "applypriority.global.L2::evict_normal", "", "applypriority.global.L2::evict_normal [%in], 128;\nmov.u32 $r, $a;"},
	{"applypriority", "applypriority.L2::evict_normal", "", "applypriority.L2::evict_normal [%in], 128;\nmov.u32 $r, $a;"},
	{"stacksave", "stacksave, alloca, stackrestore", "", stacks},
	{"stackrestore", "stackrestore gives the space back", "", stacks},
	{"alloca", "alloca", "", stacks},
	{"barrier.cluster.arrive", "a cluster of one", "", "barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;\nmov.u32 $r, $a;"},
	{"createpolicy.fractional", "policies of a fraction", "", policies("createpolicy.fractional.L2::evict_last.b64 pol, 0.5;", "createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 pol;")},
	{"createpolicy.range", "policies of a range", "", policies("createpolicy.range.global.L2::evict_last.L2::evict_first.b64 pol, [%in], 1024, 4096;", "createpolicy.range.L2::evict_last.b64 pol, [%in], 1024, 4096;")},
	{"createpolicy.cvt", "policy of an access property", "", policies("createpolicy.cvt.L2.b64 pol, 0x12F0000000000000;", "createpolicy.cvt.L2.b64 pol, 0x14F0000000000000;")},
}

const stacks = `{
.reg .b32 size;
.reg .b64 mark, room, other;
stacksave.u64 mark;
and.b32 size, $b, 48;
add.u32 size, size, 16;
cvt.u64.u32 other, size;
alloca.u64 room, other;
st.local.b32 [room], $a;
st.local.b32 [room+12], $b;
ld.local.b32 $r, [room];
ld.local.b32 $s, [room+12];
stackrestore.u64 mark;
}`

// policies loads through cache policies, whose bits are the card's own.
func policies(create ...string) string {
	body := "{\n.reg .b64 pol, at;\n.reg .b32 x;\nmul.wide.u32 at, %id, 4;\nadd.u64 at, at, %in;\nmov.u32 $r, $a;\n"
	for _, c := range create {
		body += c + "\nld.global.L2::cache_hint.b32 x, [at], pol;\nadd.u32 $r, $r, x;\n"
	}
	return body + "}"
}

func scripted(f *ptx.Form) (list []Case) {
	for i := range scripts {
		if scripts[i].form == f.Name {
			list = append(list, scripts[i].build())
		}
	}
	return list
}

// registers makes the cases of setmaxnreg: a warpgroup gives registers back and
// takes them again.
func registers(f *ptx.Form) []Case {
	p := newProgram(f.Name)
	p.attrs = "\n.maxntid 256, 1, 1\n.minnctapersm 1\n.maxnreg 64"
	p.emit("setmaxnreg.dec.sync.aligned.u32 40;")
	p.emit("mov.b32 %s, %s;", p.result("b32"), p.in("b32", "b32"))
	p.emit("setmaxnreg.inc.sync.aligned.u32 64;")
	return []Case{p.finish("setmaxnreg.dec, setmaxnreg.inc")}
}

func discards(f *ptx.Form) (list []Case) {
	for _, ch := range product(f) {
		p := newProgram(f.Name)
		a, i := p.reg("u64"), p.reg("u64")
		p.module = ".global .align 128 .b8 lines[131072];\n"
		p.emit("mov.u64 %s, lines;\n\tmul.wide.u32 %s, %%id, 128;\n\tadd.u64 %s, %s, %s;", a, i, a, a, i)
		p.emit("%s%s [%s], 128;", f.Op, ch.mods(), a)
		p.emit("st.global.b32 [%s+8], %s;", a, p.in("b32", "b32"))
		p.emit("ld.global.b32 %s, [%s+8];", p.result("b32"), a)
		list = append(list, p.finish(f.Op+ch.mods()))
	}
	return list
}

// windows makes the cases of isspacep, cvta, mapa and getctarank: what they say
// of addresses in each space, as predicates, ranks, and values read.
func windows(f *ptx.Form) (list []Case) {
	for _, ch := range product(f) {
		for variant, space := range []string{"global", "shared", "local", "const"} {
			p := newProgram(f.Name)
			p.c.Cluster, p.attrs = 2, ofTwo
			pl := p.openPlace(space, 0)
			g := p.reg("u64")
			p.emit("cvta.%s.u64 %s, %s;", space, g, pl.base)
			text := f.Op + ch.mods()
			window := ch.get(f, "space")
			plain, _, _ := strings.Cut(window, "::")
			if (f.Op == "mapa" || f.Op == "getctarank") && (space != "shared" || window == "" && ch.get(f, "type") == "u32") {
				continue
			}
			switch {
			case f.Name == "isspacep":
				p.emit("%s %s, %s;", text, p.result("pred"), g)
			case f.Op == "cvta" && plain != space && (plain != "param" || space != "const"):
				continue
			case f.Op == "cvta" && plain == "param":
				p.c.Blob = true
				p.emit("mov.u64 %s, blob;", g)
				p.emit("cvta.param.u64 %s, %s;", g, g)
				if f.Name == "cvta" {
					p.emit("ld.b64 %s, [%s+8];", p.result("b64"), g)
				} else {
					p.emit("%s %s, %s;\n\tld.param.b64 %s, [%s+8];", text, g, g, p.result("b64"), g)
				}
			case f.Op == "cvta" && ch.get(f, "type") == "u32": // not with 64-bit addresses
				n := p.reg("u32")
				p.emit("cvt.u32.u64 %s, %s;", n, g)
				p.emit("%s %s, %s;", text, p.result("u32"), n)
			case f.Name == "cvta":
				p.emit("%s %s, %s;", text, g, pl.base)
				p.emit("ld.b64 %s, [%s+8];", p.result("b64"), g)
			case f.Name == "cvta.to":
				p.emit("%s %s, %s;", text, g, g)
				p.emit("ld.%s.b64 %s, [%s+8];", space, p.result("b64"), g)
			default:
				p.remote(f, text, window, pl, g)
			}
			list = append(list, p.finish(fmt.Sprintf("%s of an address in %s, variant %d", text, space, variant)))
		}
	}
	return list
}

// remote reads the peer's shared memory through mapa, or asks for the rank of
// addresses there.
func (p *program) remote(f *ptx.Form, text, window string, pl *place, g string) {
	typ := text[len(text)-3:]
	from := g
	if window != "" {
		from = pl.base
	}
	if typ == "u32" {
		narrow := p.reg("u32")
		p.emit("cvt.u32.u64 %s, %s;", narrow, from)
		from = narrow
	}
	r, far := p.reg("u32"), p.reg(typ)
	p.emit("mov.u32 %s, %%cluster_ctarank;\n\txor.b32 %s, %s, 1;", r, r, r)
	p.emit("mapa%s.%s %s, %s, %s;", dotted(window), typ, far, from, r)
	p.emit("barrier.cluster.arrive;\n\tbarrier.cluster.wait;")
	if f.Name == "getctarank" {
		p.emit("%s %s, %s;", text, p.result("u32"), far)
		p.emit("%s %s, %s;", text, p.result("u32"), from)
	} else {
		wide := p.reg("u64")
		if p.emit("mov.u64 %s, %s;", wide, far); typ == "u32" {
			p.body[len(p.body)-1] = fmt.Sprintf("cvt.u64.u32 %s, %s;", wide, far)
		}
		p.emit("ld%s.b64 %s, [%s+8];", dotted(window), p.result("b64"), wide)
	}
	p.emit("barrier.cluster.arrive;\n\tbarrier.cluster.wait;")
}
