package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"muster"
	"muster/internal/diag"
	"muster/internal/entry"
	"muster/launch"
)

// fromFlags makes a launch of flags alone. If the grid or the block is missing, the error names
// all that is: the kernel's arguments, too.
func (in *input) fromFlags(fl launch.Flags) (*launch.File, error) {
	var lacks []string
	full := fl
	for _, f := range []struct {
		flag string
		text *string
	}{{"--grid", &full.Grid}, {"--block", &full.Block}} {
		if *f.text == "" {
			lacks, *f.text = append(lacks, f.flag), "1"
		}
	}
	f, err := launch.FromFlags(full)
	if err != nil || len(lacks) == 0 {
		return f, err
	}
	lack := "a launch without a file needs " + strings.Join(lacks, " and ")
	if filepath.Ext(fl.PTX) != ".ptx" {
		return nil, errors.New(lack) // a .cu, whose compilation would take long
	}
	mod, _, err := muster.ReadModule(f)
	if err != nil {
		return nil, err
	}
	kernel, err := entry.Find(&f.Launches[0], mod)
	if err != nil {
		return nil, err
	}
	params, err := entry.ParamsOf(mod, kernel)
	if err != nil {
		return nil, err
	}
	if args := f.MissingArgs(&f.Launches[0], params); args != "" {
		lack += "; " + args
	}
	return nil, fmt.Errorf("%s (muster init %s writes a file to fill in)", lack, fl.PTX)
}

// missingFile adds to the error of a file that is not there which one may be meant.
func missingFile(name string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	list, _ := os.ReadDir(filepath.Dir(name))
	exts := []string{".yaml", ".yml", ".json", ".ptx", ".cu"}
	stem := func(name string) string { return strings.TrimSuffix(name, filepath.Ext(name)) }
	var known, stems []string
	asked := filepath.Ext(name)
	for _, e := range list {
		// Of a name with an extension that is known, files of that kind alone are meant.
		if ext := filepath.Ext(e.Name()); !e.IsDir() && slices.Contains(exts, ext) && (ext == asked || !slices.Contains(exts, asked)) {
			known, stems = append(known, e.Name()), append(stems, stem(e.Name()))
		}
	}
	near := ""
	if i := slices.Index(stems, diag.Nearest(stem(filepath.Base(name)), stems)); i >= 0 {
		near = known[i]
	}
	for _, ext := range slices.Backward(exts) {
		if with := filepath.Base(name) + ext; slices.Contains(known, with) {
			near = with
		}
	}
	if near == "" {
		return err
	}
	var of *launch.Error
	if errors.As(err, &of) {
		of.Msg += diag.Meant(filepath.Join(filepath.Dir(name), near))
	}
	return err
}
