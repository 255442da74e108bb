package machine_test

import (
	"slices"
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
