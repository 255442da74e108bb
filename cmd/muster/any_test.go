package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestAnyFlag(t *testing.T) {
	for _, x := range []struct {
		args   string
		status int
		want   string
	}{
		{"check ../../examples/ring/ring.yaml --any 3", exitClean, "for every ring_param_2 (argument 3) of at least 12 (each of 0 to 11 checked by itself)"},
		{"check ../../examples/ring/ring.yaml --any 3 --format json", exitClean, `"holds": true`},
		{"check ../../examples/ring/ring.yaml --any 2", exitBadInput, "only a scalar"},
		{"check ../../examples/ring/ring.yaml --any 9", exitBadInput, "the kernel has 3"},
		{"check ../../examples/gemm_rs/gemm_rs.yaml --any 4", exitClean, "no loop goes round more often"},
		{"check ../../examples/ring/broken_count.yaml --any 3", exitFindings, ""},
	} {
		var out, errs bytes.Buffer
		if got := doMain(strings.Fields(x.args), nil, &out, &errs); got != x.status || !strings.Contains(out.String()+errs.String(), x.want) {
			t.Errorf("%s: exit %d\n%s%s", x.args, got, out.String(), errs.String())
		}
	}
}
