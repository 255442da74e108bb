package muster_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"muster"
)

// A standing is a kernel with something near what it lacks: a twin of an example of
// internal/rules, in which some lines are others.
type standing struct {
	name, example, twin string
	change              []string // old and new text, in pairs
	kind                string
	want                string // of Stands, a pattern; "^$" for nothing
}

var standings = []standing{
	// by the right thread, too late
	{"wgmma's wait too late", "register-in-flight", "wrong", nil, "register-in-flight",
		`^wgmma\.wait_group 0 at line \d+ covers it, but warp 0 of CTA 0 executes it only after mul\.f32 at line \d+: moved before that`},
	{"cp.async's wait too late", "read-in-flight.2", "wrong", nil, "read-in-flight",
		`^cp\.async\.wait_all at line \d+ covers it, but .* only after ld\.shared\.u32 at line \d+: moved before that`},
	{"wait too late, and more in flight by then", "overwrite-in-flight.4", "wrong", []string{"\tcp.async.wait_group 0;\n", "\tcp.async.ca.shared.global [%r3], [%rd3], 4;\n\tcp.async.commit_group;\n\tcp.async.wait_group 0;\n"}, "overwrite-in-flight",
		`^cp\.async\.wait_group 0 at line 21 covers it, but .* only after st\.global\.u32 at line 18$`},
	{"mbarrier's wait too late", "overwrite-in-flight.5", "wrong", nil, "overwrite-in-flight",
		`^mbarrier\.try_wait\.parity at line 26 waits for that phase, but lane 1 of warp 0 of CTA 0 executes it only after st\.shared\.u32 at line 24$`},
	{"fence too late", "proxy-waw", "wrong", nil, "proxy-waw", `^fence\.proxy\.async\.shared::cta at line 33 comes only after cp\.async\.bulk at line 28$`},
	{"barrier too late", "named-barrier-mismatch.2", "wrong", nil, "race-shared", `^bar\.sync at line 28 joins both, but comes only after ld\.shared\.u32 at line 29$`},
	{"cluster's barrier too late", "race-shared.4", "wrong", nil, "race-shared", `^barrier\.cluster\.wait\.aligned at line 21 joins both, but comes only after`},
	{"wait behind the barrier that publishes", "read-in-flight.3", "wrong", nil, "read-in-flight",
		`^cp\.async\.wait_group 0 at line 19 covers it, but comes only after the synchronization that leads from .*, bar\.sync at line 18$`},

	// by others
	{"bulk wait by another lane", "overwrite-in-flight.2", "wrong", nil, "overwrite-in-flight",
		`^cp\.async\.bulk\.wait_group\.read 0 at line 24 stands between, but lane 1 of warp 0 of CTA 0 executes it, which has issued nothing that it waits for, and lane 0 of warp 0 of CTA 0 does not: its guard does not hold there`},
	{"mbarrier's wait by another thread", "read-in-flight.9", "wrong", nil, "read-in-flight", `by lane 0 of warp 0 of CTA 0 waits for it; what is missing is the way from there to ldmatrix`},
	{"wgmma's wait, and no way from it", "overwrite-in-flight.7", "wrong", nil, "overwrite-in-flight", `^wgmma\.wait_group 0 at line 56 covers it, in the warp that issued it; what is missing is the way`},
	{"fence by another thread", "proxy-raw", "wrong",
		[]string{"\tbar.sync 0;\n", "\tsetp.ne.u32 %p1, %r1, 33;\n\t@%p1 bra NOFENCE;\n\tfence.proxy.async.shared::cta;\nNOFENCE:\n\tbar.sync 0;\n"}, "proxy-raw",
		`^fence\.proxy\.async\.shared::cta at line \d+ stands between, but lane 1 of warp 1 of CTA 0 executes it: it covers only what is known there by then; the branch at line \d+ leads around it$`},
	{"barrier of the own CTA", "race-shared.4", "right", []string{"st.shared::cluster.u32 [%r5], %r1;\n\tbarrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;\n", "st.shared::cluster.u32 [%r5], %r1;\n\tbar.sync 0;\n"},
		"race-shared", `^bar\.sync at line 19 stands between, but joins only the threads of its own CTA$`},

	// too early
	{"bulk wait before the copy", "overwrite-in-flight.4", "right", []string{"\tcp.async.wait_group 0;\n", "", "\tcp.async.c", "\tcp.async.wait_group 0;\n\tcp.async.c"}, "overwrite-in-flight",
		`^cp\.async\.wait_group 0 at line \d+ stands before cp\.async at line \d+ in that thread, and waits for nothing that is issued after it$`},
	{"wait before the commit", "register-in-flight.2", "right", []string{"\twgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;\n", "\twgmma.wait_group.sync.aligned 0;\n\twgmma.commit_group.sync.aligned;\n"}, "register-in-flight",
		`^wgmma\.wait_group 0 at line 26 comes behind wgmma\.mma_async at line 25, but before a commit_group makes that part of a group: the one at line 27 comes later$`},
	{"fence before the store", "proxy-raw", "wrong", []string{"\tst.shared", "\tfence.proxy.async.shared::cta;\n\tst.shared"}, "proxy-raw", `^fence\.proxy\.async\.shared::cta at line \d+ stands before st\.shared\S* at line \d+, and covers nothing that comes after it$`},
	{"wgmma.fence before the access", "register-in-flight.6", "wrong", nil, "register-in-flight", `^wgmma\.fence\.sync\.aligned at line 22 is the last before wgmma\.mma_async at line 27, and comes before that access$`},
	{"another phase waited for", "bytes-early", "wrong", nil, "read-in-flight", `has waited for phase 0; the bytes of cp\.async\.bulk at line \d+ are charged to phase 1$`},
	{"arrival before the debt", "expect-late", "right", []string{"\tmbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 16;\n", "\tmbarrier.arrive.shared::cta.b64 _, [full];\n\tmbarrier.expect_tx.relaxed.cta.shared::cta.b64 [full], 16;\n"}, "expect-late",
		`^mbarrier\.arrive at line \d+ by the same thread arrives at this barrier, but before mbarrier\.expect_tx\.relaxed\.cta at line \d+: exchanged, the two are in order$`},

	// around it
	{"a branch around a fence", "proxy-raw.7", "wrong", nil, "proxy-raw", `for warp 1 of CTA 0, the branch at line 20 leads around it$`},
	{"a branch around a wait for an mbarrier", "read-in-flight.5", "wrong", nil, "read-in-flight", `^mbarrier\.try_wait\.parity at line 35 stands before ld\.shared\.u32 at line 39, but for .* of CTA 1, the branch at line 33 leads around it$`},
	{"a branch around a wait for a group", "register-in-flight.2", "right", []string{"\twgmma.wait_group.sync.aligned 0;\n", "\tsetp.ge.u32 %p1, %r1, 32;\n\t@%p1 bra AROUND;\n\twgmma.wait_group.sync.aligned 0;\nAROUND:\n", ".reg .b16 %h<2>;", ".reg .b16 %h<2>;\n\t.reg .pred %p<2>;"}, "register-in-flight",
		`^wgmma\.wait_group 0 at line \d+ stands between, but warp 0 of CTA 0 executes it and warp \d of CTA 0 does not: the branch at line 29 leads around it$`},

	// of too large a number, another space, too narrow a scope
	{"bulk wait leaves one open", "overwrite-in-flight.3", "wrong", nil, "overwrite-in-flight", `leaves the latest group open, which is that of cp\.async\.bulk at line 23: none may stay open there$`},
	{"wgmma's wait leaves one open", "overwrite-in-flight.8", "wrong", nil, "overwrite-in-flight", `^wgmma\.wait_group 1 at line 53 comes behind .*: none may stay open there$`},
	{"another state space", "proxy-raw.2", "wrong", nil, "proxy-raw", `^fence\.proxy\.async\.global at line 19 stands between, but for another state space$`},
	{"a fence of too narrow a scope", "scope-too-narrow.2", "wrong", nil, "scope-too-narrow", `^fence\.acq_rel\.cta at line 17 stands after st\.global\.u32 at line 16, with too narrow a scope$`},

	// nothing
	{"no wait at all", "read-in-flight.7", "wrong", nil, "read-in-flight", `^$`},
	{"no fence at all", "proxy-raw", "wrong", nil, "proxy-raw", `^$`},
	{"no barrier at all", "race-shared", "wrong", nil, "race-shared", `^$`},
}

const again = "\tcp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r3], [%rd1], 128, [%r4], %h1;\n"

// TestFixes: fixes and notes that name what stands in the kernel.
func TestFixes(t *testing.T) {
	for _, c := range []struct {
		standing
		fix, note string
	}{
		{standing{"bytes from a register", "bytes-early", "right", []string{"[%r2], 256;", "[%r2], %r9;", "\tmbarrier.arrive.expect_tx", "\tmov.u32 %r9, 192;\n\tmbarrier.arrive.expect_tx"}, "bytes-early", ""}, `: 256 have landed in phase 0, where 192 are expected, by the value of mov\.u32 at line \d+$`, ""},
		{standing{"a wait in the own CTA", "overwrite-in-flight.5", "wrong", nil, "overwrite-in-flight", ""}, `^wait for that phase`, ""},
		{standing{"a wait that only another CTA can make", "read-in-flight.5", "right", []string{again, again + again}, "overwrite-in-flight", ""}, `^wait for that phase .*; and, in each other CTA that cp\.async\.bulk at line 29 brings bytes to, wait for that phase of its mbarrier; and, from there to cp\.async\.bulk at line 30, barrier\.cluster\.arrive and .*, counted at init, with \.release\.cluster`, ""},
		{standing{"a branch that parts a warpgroup", "register-in-flight.2", "right", []string{"\twgmma.wait_group.sync.aligned 0;\n", "\tsetp.ge.u32 %p1, %r1, 32;\n\t@%p1 bra AROUND;\n\twgmma.wait_group.sync.aligned 0;\nAROUND:\n\twgmma.fence.sync.aligned;\n", ".reg .b16 %h<2>;", ".reg .b16 %h<2>;\n\t.reg .pred %p<2>;"}, "divergent-barrier", ""}, "", `^bra at line 29 parts them: one side of it comes to wgmma\.\S+ at line \d+ first, the other to wgmma\.\S+ at line \d+$`},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, load := c.load(t)
			n := 0
			for _, f := range checked(t, load(text)).Findings {
				if f.Kind != c.kind {
					continue
				}
				n++
				if !regexp.MustCompile(c.fix).MatchString(f.Fix) || !regexp.MustCompile(c.note).MatchString(strings.Join(f.Notes, "\n")) {
					t.Errorf("fix %q, want %s\nnotes %q, want %s\n%s", f.Fix, c.fix, f.Notes, c.note, text)
				}
			}
			if n == 0 {
				t.Errorf("no %s\n%s", c.kind, text)
			}
		})
	}
}

// load returns the text of a kernel and makes its launch.
func (s *standing) load(t *testing.T) (string, func(string) *muster.Launch) {
	t.Helper()
	src, err := os.ReadFile("internal/rules/testdata/" + s.example + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	_, twins := parts(string(src))
	text := twins[s.twin+".ptx"]
	for i := 0; i < len(s.change); i += 2 {
		if !strings.Contains(text, s.change[i]) {
			t.Fatalf("%s: no %q", s.example, s.change[i])
		}
		text = strings.Replace(text, s.change[i], s.change[i+1], 1)
	}
	return text, func(text string) *muster.Launch {
		files := map[string]string{}
		for name, other := range twins {
			files[name] = other
		}
		files[s.twin+".ptx"] = text
		return twin(t, files, s.twin)
	}
}

// TestStands: a finding names what of the missing kind the kernel has nearby, and why it does
// not suffice; nothing where there is none.
func TestStands(t *testing.T) {
	for _, s := range standings {
		t.Run(s.name, func(t *testing.T) {
			text, load := s.load(t)
			n := 0
			for _, f := range checked(t, load(text)).Findings {
				if f.Kind != s.kind {
					continue
				}
				n++
				if all := strings.Join(f.Stands, "\n"); !regexp.MustCompile(s.want).MatchString(all) {
					t.Errorf("%s stands: %q\nwant %s\n%s", f.ID, all, s.want, text)
				}
				break
			}
			if n == 0 {
				t.Errorf("no %s\n%s", s.kind, text)
			}
		})
	}
}

func checked(t *testing.T, l *muster.Launch) *muster.Report {
	t.Helper()
	r, err := l.Check(t.Context(), muster.CheckOptions{Jobs: 1})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var (
	movedEarlier = regexp.MustCompile(`^\S+(?: \d+)? at line (\d+) covers it, but .* only after .* at line (\d+): moved before that, it covers it in time$`)
	fewerOpen    = regexp.MustCompile(`^\S+ \d+ at line (\d+) comes behind .* open, .*: (?:none|no more than (\d+)) may stay open there$`)
	exchanged    = regexp.MustCompile(` at line (\d+) by the same thread .* at line (\d+): exchanged, the two are in order$`)
)

// mended does what a text of Stands says would suffice; empty if it says nothing of the kind.
func mended(text, stands string) (what, mend string) {
	lines := strings.Split(text, "\n")
	number := func(s string) int { n, _ := strconv.Atoi(s); return n - 1 }
	if m := movedEarlier.FindStringSubmatch(stands); m != nil {
		from, to := number(m[1]), number(m[2])
		line := lines[from]
		lines = slices.Delete(lines, from, from+1)
		if from < to {
			to--
		}
		return "moved", strings.Join(slices.Insert(lines, to, line), "\n")
	}
	if m := fewerOpen.FindStringSubmatch(stands); m != nil {
		at, most := number(m[1]), m[2]
		if most == "" {
			most = "0"
		}
		lines[at] = regexp.MustCompile(`\d+;`).ReplaceAllString(lines[at], most+";")
		return "fewer", strings.Join(lines, "\n")
	}
	if m := exchanged.FindStringSubmatch(stands); m != nil {
		a, b := number(m[1]), number(m[2])
		lines[a], lines[b] = lines[b], lines[a]
		return "exchanged", strings.Join(lines, "\n")
	}
	return "", ""
}

// TestStandsMends does what findings say would suffice, in the kernels above and in every wrong
// example, word for word: the finding is gone.
func TestStandsMends(t *testing.T) {
	list := slices.Clone(standings)
	files, err := filepath.Glob("internal/rules/testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(err, len(files))
	}
	for _, name := range files {
		base := strings.TrimSuffix(filepath.Base(name), ".txtar")
		if src, err := os.ReadFile(name); err == nil && strings.Contains(string(src), "in-flight") && strings.Contains(string(src), "-- wrong.ptx --") {
			list = append(list, standing{name: base, example: base, twin: "wrong"})
		}
	}
	done := map[string]int{}
	for _, s := range list {
		text, load := s.load(t)
		for _, f := range checked(t, load(text)).Findings {
			for _, stands := range f.Stands {
				what, mend := mended(text, stands)
				if what == "" {
					continue
				}
				done[what]++
				key := f.Kind + f.Sites[0].PTX.Text + f.Sites[len(f.Sites)-1].PTX.Text
				for _, g := range checked(t, load(mend)).Findings {
					if g.Kind+g.Sites[0].PTX.Text+g.Sites[len(g.Sites)-1].PTX.Text == key {
						t.Errorf("%s: %s stands: %q\nand %s is found still\n%s", s.name, f.ID, stands, g.ID, mend)
					}
				}
			}
		}
	}
	for what, least := range map[string]int{"moved": 4, "fewer": 4, "exchanged": 1} {
		if done[what] < least {
			t.Errorf("%s: %d, want %d at least", what, done[what], least)
		}
	}
}
