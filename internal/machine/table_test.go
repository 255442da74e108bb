package machine_test

import (
	"slices"
	"strings"
	"testing"

	"muster/internal/machine"
	"muster/ptx"
)

// executedClasses are the classes of rows that the machine executes; the
// others (textures, tcgen05) make a verdict incomplete.
var executedClasses = []string{"scalar", "video", "control", "memory", "atomic", "warp", "barrier", "fence", "mbarrier", "async", "stack", "matrix", "tensormap"}

// notExecuted lists the rows of those classes, for targets up to sm_90a, that
// the machine does not execute: reaching one makes a verdict incomplete.
var notExecuted = map[string]string{
	"multimem.ld_reduce":                  "several GPUs",
	"multimem.ld_reduce.weak":             "several GPUs",
	"multimem.ld_reduce.float":            "several GPUs",
	"multimem.ld_reduce.float.weak":       "several GPUs",
	"multimem.st":                         "several GPUs",
	"multimem.st.weak":                    "several GPUs",
	"multimem.red":                        "several GPUs",
	"multimem.red.float":                  "several GPUs",
	"multimem.cp.async.bulk":              "several GPUs",
	"multimem.cp.reduce.async.bulk":       "several GPUs",
	"multimem.cp.reduce.async.bulk.noftz": "several GPUs",
	"wmma.mma.f16.sat":                    "PTX 6.5 removed it",
	"discard":                             "leaves memory undefined",
	"cp.async.bulk.shared.cta.global.oob": "out-of-bounds bytes of a bulk copy",

	"cp.async.bulk.shared.cta.global.relaxed": "strong accesses of a bulk copy",
	"cp.async.bulk.shared.global.relaxed":     "strong accesses of a bulk copy",
	"cp.async.bulk.cluster.shared.relaxed":    "strong accesses of a bulk copy",
	"cp.async.bulk.global.shared.relaxed":     "strong accesses of a bulk copy",
	"fence.proxy.async.release.read":          "a release of reads alone",
	"fence.proxy.alias.sem":                   "virtual aliases",
	"mbarrier.test_wait.report":               "reports of an mbarrier",
	"mbarrier.test_wait.report.value":         "reports of an mbarrier",
	"mbarrier.test_wait.parity.report":        "reports of an mbarrier",
	"mbarrier.test_wait.parity.report.value":  "reports of an mbarrier",
	"mbarrier.try_wait.report":                "reports of an mbarrier",
	"mbarrier.try_wait.report.value":          "reports of an mbarrier",
	"mbarrier.try_wait.parity.report":         "reports of an mbarrier",
	"mbarrier.try_wait.parity.report.value":   "reports of an mbarrier",
	"mbarrier.check_layout":                   "layouts of an mbarrier",
	"ld.readonly":                             "the read-only proxy",
	"ldmatrix.s8":                             "elements of 4 bits",
	"multimem.cp.async.bulk.relaxed":          "several GPUs",
}

// notYetExecuted lists the rows of those classes for later targets that the machine does not
// execute, by the beginning of their names.
var notYetExecuted = map[string]string{
	"add.sat.simd": "packed integers of sm_120", "add.simd4": "packed integers of sm_120", "sub.simd4": "packed integers of sm_120",
	"neg.simd4": "packed integers of sm_120", "min.simd4": "packed integers of sm_120", "max.simd4": "packed integers of sm_120",
	"min.relu4": "packed integers of sm_120", "max.relu4": "packed integers of sm_120",
	"set.simd":   "packed integers of sm_107",
	"add.mixed2": "pairs of mixed precision of sm_107", "sub.mixed2": "pairs of mixed precision of sm_107", "fma.mixed2": "pairs of mixed precision of sm_107",
	"add.narrow2": "pairs of mixed precision of sm_107", "sub.narrow2": "pairs of mixed precision of sm_107",
	"add.x4": "arithmetic of PTX 9.4 on 8, 6 and 4 bits", "sub.x4": "arithmetic of PTX 9.4 on 8, 6 and 4 bits",
	"mul.x4": "arithmetic of PTX 9.4 on 8, 6 and 4 bits", "fma.x4": "arithmetic of PTX 9.4 on 8, 6 and 4 bits",
	"cvt.rs.f8x4": "which random bits each element takes is in a figure alone",
	"cvt.s2f6x2.": "the largest value is named in two ways", "cvt.bf16x2.s2f6x2": "the largest value is named in two ways",
	"cvt.small.scaled.": "conversions of sm_107", "cvt.ue5m3x2.": "conversions of sm_107", "cvt.f16x2.ue5m3x2": "conversions of sm_107", "cvt.bf16x2.ue5m3x2": "conversions of sm_107",
	"spcompress": "sparse compression of sm_107", "spdecompress": "sparse compression of sm_107",
	"st.async.release": "asynchronous releases", "red.async.release": "asynchronous releases",
	"multimem.st.async": "several GPUs", "multimem.red.async": "several GPUs",
	"cp.async.bulk.multicast32": "masks of clusters of more than 16 CTAs", "cp.async.bulk.tensor.multicast32": "masks of clusters of more than 16 CTAs",
	"cp.async.bulk.tensor.shared.cta.global.override": "properties that replace those of a tensor map", "cp.async.bulk.tensor.shared.global.override": "properties that replace those of a tensor map",
	"cp.async.bulk.tensor.global.shared.override": "properties that replace those of a tensor map", "cp.reduce.async.bulk.tensor.override": "properties that replace those of a tensor map",
	"cp.async.bulk.prefetch.tensor.override": "properties that replace those of a tensor map",
	"applypriority.async.bulk":               "a priority that a bulk group waits for",
	"fence.proxy.fabric":                     "several devices",
	"mbarrier.expect_tx.multicast":           "masks of clusters of more than 16 CTAs", "mbarrier.complete_tx.multicast": "masks of clusters of more than 16 CTAs",
	"mbarrier.arrive.multicast": "masks of clusters of more than 16 CTAs", "mbarrier.arrive.expect_tx.multicast": "masks of clusters of more than 16 CTAs",
	"mbarrier.arrive_drop.multicast": "masks of clusters of more than 16 CTAs", "mbarrier.arrive_drop.expect_tx.multicast": "masks of clusters of more than 16 CTAs",
	"ldmatrix.b8": "matrices of bytes", "ldmatrix.trans.unpack": "matrices of 6 and 4 bits", "stmatrix.b8": "matrices of bytes",
}

// TestLaterRows holds that list to the table and the machine.
func TestLaterRows(t *testing.T) {
	used := map[string]bool{}
	n := 0
	for _, f := range ptx.Forms() {
		if !slices.Contains(executedClasses, f.Class) || f.SM.Number < 100 {
			continue
		}
		listed := ""
		for name := range notYetExecuted {
			if strings.HasPrefix(f.Name, name) && len(name) > len(listed) {
				listed = name
			}
		}
		used[listed] = true
		switch ok := machine.Executes(f); {
		case !ok && listed == "":
			t.Errorf("nothing executes %s (%s): %s", f.Name, f.Section, f.Example())
		case ok && listed != "":
			t.Errorf("%s is executed, and listed as not", f.Name)
		case ok:
			n++
		}
	}
	for name := range notYetExecuted {
		if !used[name] {
			t.Errorf("%s is listed as not executed, and is no row", name)
		}
	}
	if n < 20 {
		t.Errorf("only %d later rows are executed", n)
	}
	t.Logf("%d later rows are executed", n)
}

// TestEveryRowDecodes holds the decoder to the instruction table.
func TestEveryRowDecodes(t *testing.T) {
	seen := map[string]bool{}
	n := 0
	for _, f := range ptx.Forms() {
		if !slices.Contains(executedClasses, f.Class) || f.SM.Number >= 100 {
			continue
		}
		ok := machine.Executes(f)
		seen[f.Name] = true
		switch {
		case !ok && notExecuted[f.Name] == "":
			t.Errorf("nothing executes %s (%s): %s", f.Name, f.Section, f.Example())
		case ok && notExecuted[f.Name] != "":
			t.Errorf("%s is executed, and listed as not", f.Name)
		case ok:
			n++
		}
	}
	for name := range notExecuted {
		if !seen[name] {
			t.Errorf("%s is listed as not executed, and is no row", name)
		}
	}
	if n < 300 {
		t.Errorf("only %d rows are executed", n)
	}
	t.Logf("%d rows are executed", n)
}
