package ptx

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestGenerateModifiers checks that there are trials and, with -ptxas, asks the
// assembler about spoilt instructions (a modifier misspelt, replaced or left out,
// an operand too few or too many), and about versions of PTX, architectures and
// directives.
func TestGenerateModifiers(t *testing.T) {
	lines := spoiltTrials()
	if len(lines) < 5000 {
		t.Fatalf("%d lines", len(lines))
	}
	if *ptxasPath == "" {
		return
	}
	var b strings.Builder
	b.WriteString(modifiersHead)
	write := func(list []string, module func(string) (text, arch string)) {
		for i, answer := range askEach(list, module) {
			fmt.Fprintf(&b, "%s\n", strings.TrimSpace(answer+" "+list[i]))
		}
	}
	write(lines, func(l string) (string, string) {
		return ".version 9.0\n.target sm_90a\n" + trialHead + l + "\nret;\n}\n", "sm_90a"
	})
	b.WriteString("# Whole modules.\n")
	write(moduleTrials(), func(l string) (string, string) {
		arch := regexp.MustCompile(`sm_[0-9a-z]+`).FindString(l)
		return l, arch
	})
	if err := os.WriteFile("testdata/modifiers.txt", []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

const modifiersHead = `# What ptxas 13.0 says of instructions that were spoilt, in a module of PTX 9.0 for
# sm_90a: "+" it takes them, "-" it refuses them. Made with
# go test -run GenerateModifiers -ptxas PATH.
`

// askEach asks about each text in a separate run: ptxas stops at syntax errors.
func askEach(list []string, module func(string) (text, arch string)) []string {
	answers := make([]string, len(list))
	var wg sync.WaitGroup
	slots := make(chan struct{}, runtime.NumCPU())
	for i, l := range list {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			text, arch := module(l)
			cmd := exec.Command("sh", "-c", `f=$(mktemp) && cat >$f && "$0" -O0 -arch "$1" $f -o /dev/null 2>&1; r=$?; rm $f; exit $r`, *ptxasPath, arch)
			cmd.Stdin = strings.NewReader(text)
			out, err := cmd.Output()
			switch {
			case err == nil:
				answers[i] = "+"
			default:
				answers[i] = "-"
				if strings.HasPrefix(l, ".version") {
					answers[i] = "- [" + strings.Join(strings.Fields(firstComplaint(string(out))), " ") + "]"
				}
			}
		})
	}
	wg.Wait()
	return answers
}

func firstComplaint(out string) string {
	if m := complaint.FindStringSubmatch(out); m != nil {
		return m[2]
	}
	line, _, _ := strings.Cut(out, "\n")
	return line
}

// moduleTrials are one-line modules: every architecture with many versions of
// PTX, directives, and some instructions.
func moduleTrials() (list []string) {
	known := []string{"6.0", "6.1", "6.3", "6.5", "7.0", "7.1", "7.4", "7.8", "8.0", "8.1", "8.3", "8.5", "8.6", "8.7", "8.8", "9.0"}
	for _, sm := range strings.Fields("75 80 86 87 89 90 90a 100 100a 100f 103 103a 103f 110 110a 110f 120 120a 120f 121 121a 121f") {
		for _, v := range known {
			list = append(list, fmt.Sprintf(".version %s .target sm_%s .address_size 64 .visible .entry k() { ret; }", v, sm))
		}
	}
	for _, head := range []string{"7.7 .target sm_80", "7.8 .target sm_80", "7.8 .target sm_90", "8.0 .target sm_80", "8.0 .target sm_90", "8.0 .target sm_90a",
		"8.2 .target sm_75", "8.3 .target sm_75", "8.8 .target sm_90", "8.8 .target sm_90a", "8.8 .target sm_100", "8.8 .target sm_100a", "8.8 .target sm_100f", "9.0 .target sm_90", "9.0 .target sm_120a"} {
		for _, a := range []string{".reqnctapercluster 1, 1, 1", ".explicitcluster", ".maxclusterrank 4", ".reqntid 32, 1, 1 .reqnctapercluster 1, 1, 1 .blocksareclusters", ".maxnreg 32"} {
			list = append(list, fmt.Sprintf(".version %s .address_size 64 .visible .entry k() %s { ret; }", head, a))
		}
		for _, in := range []string{"wgmma.fence.sync.aligned;", "wgmma.commit_group.sync.aligned;", "setmaxnreg.inc.sync.aligned.u32 40;", "fence.proxy.async;", "fence.mbarrier_init.release.cluster;",
			"fence.acquire.gpu;", "barrier.cluster.arrive;", "mov.u32 %r1, %clusterid.x;", ".reg .b128 %rq;", "elect.sync %r1|%p1, -1;", "griddepcontrol.wait;", "red.add.noftz.bf16 [%rd1], %rs1;",
			"cp.async.bulk.commit_group;", "mbarrier.try_wait.b64 %p1, [%rd1], %rd2;", "tcgen05.fence::before_thread_sync;", "tensormap.replace.tile.rank.b1024.b32 [%rd1], %r1;", "fence.proxy.foo;", "fence.proxy;"} {
			list = append(list, fmt.Sprintf(".version %s .address_size 64 .visible .entry k() { .reg .pred %%p<4>; .reg .b16 %%rs<4>; .reg .b32 %%r<4>; .reg .b64 %%rd<4>; ret; %s }", head, in))
		}
	}
	return list
}

// spoiltTrials are instructions of every row that PTX 9.0 has, each with one
// defect; some happen to be valid again.
func spoiltTrials() []string {
	seen := map[string]bool{}
	var words []string
	for _, f := range forms {
		for _, s := range f.Slots {
			words = append(words, s.Values...)
		}
	}
	slices.Sort(words)
	words = slices.Compact(words)
	for _, f := range forms {
		switch f.Op {
		case "bra", "brx", "call", "ret", "exit", "trap", "brkpt", "wmma", "tcgen05":
			continue
		}
		if (Version{9, 0}).Before(f.Version) || f.SM.Number > 90 || f.Class == "texture" {
			continue
		}
		in := (&trial{f: f}).make()
		if Match(in) == f {
			f.spoil(in, words, func(x *Inst) { seen[x.String()] = true })
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

func (f *Form) spoil(in *Inst, words []string, add func(*Inst)) {
	mods := func(m []string) { add(&Inst{Op: in.Op, Mods: m, Operands: in.Operands}) }
	for i, m := range in.Mods {
		spoilt := slices.Clone(in.Mods)
		spoilt[i] = m + "x"
		mods(spoilt)
		mods(slices.Delete(slices.Clone(in.Mods), i, i+1))
		spoilt = slices.Clone(in.Mods)
		spoilt[i] = "foo"
		mods(spoilt)
	}
	at := func(key string) int { return int(hash(f.Name+key)) % (len(in.Mods) + 1) }
	for _, w := range []string{"foo", "uni", "sync", "relaxed", "cluster"} {
		mods(slices.Insert(slices.Clone(in.Mods), at(w), w))
	}
	var siblings []string // modifiers of other rows of the instruction
	for _, g := range formsByOp[f.Op] {
		for _, s := range g.Slots {
			for _, v := range s.Values {
				if !f.knows(v) && !slices.Contains(siblings, v) {
					siblings = append(siblings, v)
				}
			}
		}
	}
	for _, list := range [][]string{siblings, words} {
		for n := range min(4, len(list)) {
			w := list[int(hash(fmt.Sprint(f.Name, n)))%len(list)]
			mods(slices.Insert(slices.Clone(in.Mods), at(w), w))
		}
	}
	operands := func(xs []Operand) { add(&Inst{Op: in.Op, Mods: in.Mods, Operands: xs}) }
	if n := len(in.Operands); n > 0 {
		operands(in.Operands[:n-1])
		operands(in.Operands[1:])
		operands(append(slices.Clone(in.Operands), in.Operands[n-1]))
	}
	operands(append(slices.Clone(in.Operands), Name("%r9")))
}
