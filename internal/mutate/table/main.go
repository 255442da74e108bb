// Command table writes docs/tables/mutants.md: what `muster mutate` says of the kernels
// with tensor maps and tensor cores. It takes some minutes:
//
//	go build -o muster ./cmd/muster && go run ./internal/mutate/table ./muster > docs/tables/mutants.md
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// kernels are the examples that are mutated, in the order of the tables: a folder with a launch
// file of its name, or folder/file.
var kernels = strings.Fields(`
	triton_matmul_tma triton_matmul_cpasync gemm_ws_multicast gemm_fp8 gemm_persistent_stmatrix
	gemm_rs gemm_mma_sync grouped_gemm conv_im2col flash_attention_fwd gluon_matmul_pipelined
	gluon_matmul_roles triton_matmul_persistent triton_attention pallas_matmul_bf16
	pallas_attention pallas_matmul blackwell/gemm_1cta blackwell/gemm_2cta`)

const head = "# Mutants of the kernels with tensor maps and tensor cores\n\n" +
	"What `muster mutate examples/X/X.yaml` says of each, default schedules (`go run ./internal/mutate/table` writes this page). " +
	"A survivor has a reason where the launch is proven right in every schedule without what was taken away, " +
	"where another synchronization gives the same order (both gone is found), or where no thread comes to the place. " +
	"*No longer proven* names the condition of [schedules.md](../schedules.md) that fails.\n\n" +
	"| kernel | mutants | found | survive, with a reason | no longer proven | survive without a reason | other |\n" +
	"|---|---|---|---|---|---|---|\n"

const tail = "\n`triton_matmul_roles`, Triton's own warp specialization, is not in the table: its launch has accepted findings, and " +
	"mutants of it change results behind findings that the original draws too.\n"

// A mutant is a row of what `muster mutate --format json` writes.
type mutant struct {
	ID, Before, Source, Outcome, Why string
}

// Columns of the table.
const (
	all = iota
	found
	reasoned
	unproven
	bare
	other
	columns
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: table MUSTER, a built muster")
		os.Exit(2)
	}
	var table, list strings.Builder
	var sum [columns]int
	for _, k := range kernels {
		rows, err := mutants(os.Args[1], k)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", k, err)
			os.Exit(1)
		}
		var n [columns]int
		fmt.Fprintf(&list, "\n### %s\n\n```\n", k)
		for i := range rows {
			c := rows[i].column()
			n[all]++
			n[c]++
			if c != found {
				rows[i].write(&list)
			}
		}
		list.WriteString("```\n")
		row(&table, "`"+k+"`", n)
		for i := range n {
			sum[i] += n[i]
		}
		fmt.Fprintln(os.Stderr, k, n)
	}
	row(&table, "sum", sum)
	fmt.Print(head + table.String() + tail + "\n## One by one\n\nEvery mutant that was not found.\n" + list.String())
}

func mutants(muster, kernel string) ([]mutant, error) {
	folder, file, ok := strings.Cut(kernel, "/")
	if !ok {
		file = folder
	}
	cmd := exec.Command(muster, "mutate", fmt.Sprintf("examples/%s/%s.yaml", folder, file), "--format", "json", "--limit-time", "1h")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	var t struct{ Mutants []mutant }
	if e := json.Unmarshal(out, &t); e != nil {
		return nil, fmt.Errorf("%w; %w", err, e)
	}
	return t.Mutants, nil
}

func (m *mutant) column() int {
	switch {
	case m.Outcome == "found":
		return found
	case m.Outcome == "no longer proven":
		return unproven
	case m.Outcome != "survived":
		return other
	case m.Why == "":
		return bare
	}
	return reasoned
}

func (m *mutant) write(b *strings.Builder) {
	b.WriteString(m.ID)
	if m.Source != "" {
		fmt.Fprintf(b, " (%s)", m.Source)
	}
	why := m.Why
	if why == "" {
		why = "no schedule tried shows a difference"
	}
	fmt.Fprintf(b, "  %s\n    %s: %s\n", m.Before, m.Outcome, why)
}

func row(b *strings.Builder, name string, n [columns]int) {
	fmt.Fprintf(b, "| %s |", name)
	for _, v := range n {
		fmt.Fprintf(b, " %d |", v)
	}
	b.WriteByte('\n')
}
