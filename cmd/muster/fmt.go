package main

import (
	"errors"
	"io"

	"github.com/spf13/cobra"

	"muster/internal/files"
	"muster/ptx"
)

func fmtCommand(c *console) *cobra.Command {
	write := false
	cmd := &cobra.Command{
		Use:   "fmt FILE.ptx",
		Short: "Parse PTX and print it in one canonical layout",
		Long: `Fmt parses a PTX module and prints it from its syntax tree: one layout for all
compilers, comments gone, what a diff then shows is what differs. '-' reads
standard input. Instructions that the table does not know are kept as they are
and named on standard error.`,
		Example: "  muster fmt k.ptx\n  diff <(muster fmt old.ptx) <(muster fmt new.ptx)",
		Args:    exactly(1, "one .ptx, or - for standard input"),
		RunE: func(_ *cobra.Command, args []string) error {
			if write && args[0] == "-" {
				return errors.New("-w writes a file in place: name one")
			}
			m, err := parseSource(c.in, args[0])
			if err != nil {
				return err
			}
			for _, e := range ptx.Validate(m) {
				io.WriteString(c.err, "muster: "+e.Error()+"\n")
			}
			if write {
				return files.Write(args[0], func(w io.Writer) error { return m.Print(w) })
			}
			return m.Print(c.out)
		},
	}
	cmd.Flags().BoolVarP(&write, "write", "w", false, "write the file in place")
	return cmd
}

// maxSource bounds the module size in bytes, as in check.
const maxSource = 64 << 20

// parseSource reads PTX.
func parseSource(stdin io.Reader, name string) (*ptx.Module, error) {
	src, err := readSource(stdin, name)
	if err != nil {
		return nil, err
	}
	m, err := ptx.Parse(name, src)
	return m, files.Instead(name, files.AsPTX, src, err)
}

func readSource(stdin io.Reader, name string) ([]byte, error) {
	if name == "-" {
		return files.ReadFrom("standard input", stdin, maxSource)
	}
	return files.Read(name, maxSource)
}
