// Command gen makes the campaign's modules and inputs for a machine with a GPU,
// and its golden data from what came back. See README.md in the folder above.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"muster/internal/campaign"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	list := campaign.Cases
	if len(args) > 0 && args[0] == "-matrix" {
		list, args = campaign.MatrixCases, args[1:]
	}
	if len(args) > 0 && args[0] == "-full" {
		campaign.Full, args = true, args[1:]
	}
	switch {
	case len(args) == 2 && args[0] == "plan":
		return plan(list(), args[1])
	case len(args) == 3 && args[0] == "pack":
		return pack(list(), args[1], args[2])
	}
	return errors.New("usage: gen [-matrix] plan DIR | gen [-matrix] [-full] pack DIR GOLDEN")
}

// An entry tells device/run.py of one case.
type entry struct {
	Name   string
	Module string // PTX before the entry
	Kernel string
	In     string // file of inputs; at InAt
	InAt   int
	InLen  int
	OutLen int
	Blob   bool
}

// perModule cases share a module, so that the assembler starts less often.
const perModule = 64

func plan(cases []campaign.Case, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var list []entry
	var input []byte
	for i := range cases {
		c := &cases[i]
		file := fmt.Sprintf("in%04d", i/perModule)
		in := c.Input()
		list = append(list, entry{c.Name, c.Module, c.Entry(), file, len(input), len(in), c.OutSize(), c.Blob})
		input = append(input, in...)
		if (i+1)%perModule == 0 || i+1 == len(cases) {
			if err := os.WriteFile(filepath.Join(dir, file), input, 0o644); err != nil {
				return err
			}
			input = nil
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "blob"), campaign.Blob(), 0o644); err != nil {
		return err
	}
	text, err := json.Marshal(map[string]any{"PerModule": perModule, "Header": campaign.Header, "Block": campaign.Block, "CTAs": campaign.CTAs, "Cases": list})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "plan.json"), text, 0o644)
}

// results is what device/run.py writes beside the outputs.
type results struct {
	Machine string
	Refused map[string]string
	Failed  map[string]string
	At      map[string]int // offset in the file out
}

func pack(cases []campaign.Case, dir, golden string) error {
	text, err := os.ReadFile(filepath.Join(dir, "results.json"))
	if err != nil {
		return err
	}
	var res results
	if err := json.Unmarshal(text, &res); err != nil {
		return err
	}
	out, err := os.ReadFile(filepath.Join(dir, "out"))
	if err != nil {
		return err
	}
	var recs []campaign.Record
	for i := range cases {
		c := &cases[i]
		r := campaign.Record{Name: c.Name, Print: c.Fingerprint(c.Input()), Refused: res.Refused[c.Name], Failed: res.Failed[c.Name]}
		if at, ok := res.At[c.Name]; ok {
			r.Head, r.Sums = c.Summary(out[at : at+c.OutSize()])
		} else if r.Refused == "" && r.Failed == "" {
			r.Failed = "was not run"
		}
		recs = append(recs, r)
	}
	f, err := os.Create(golden)
	if err != nil {
		return err
	}
	if err := campaign.WriteGolden(f, res.Machine, cases, recs); err != nil {
		return err
	}
	return f.Close()
}
