//go:build !js

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"muster/internal/files"
)

// docsCommand makes documents of the commands themselves, for packages.
func docsCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:    "docs FOLDER",
		Short:  "Write manual pages and completion scripts",
		Hidden: true,
		Long: `Docs writes what a package of Muster has besides the command: a manual page for
each command in FOLDER/man/man1, and completion scripts in FOLDER/completions for
bash, zsh, fish and PowerShell. They are made of the help and the flags of this
binary: the same binary writes the same bytes.`,
		Example: "  muster docs share",
		Args:    exactly(1, "one folder"),
		RunE:    func(_ *cobra.Command, args []string) error { return writeDocs(root, args[0]) },
	}
}

func writeDocs(root *cobra.Command, dir string) error {
	pages := map[string]string{}
	for _, cmd := range append([]*cobra.Command{root}, root.Commands()...) {
		if cmd == root || cmd.IsAvailableCommand() && cmd.Name() != "completion" {
			pages[filepath.Join("man", "man1", dashed(cmd)+".1")] = manPage(cmd)
		}
	}
	for name, write := range map[string]func(*strings.Builder) error{
		"muster.bash": func(b *strings.Builder) error { return root.GenBashCompletionV2(b, true) },
		"_muster":     func(b *strings.Builder) error { return root.GenZshCompletion(b) },
		"muster.fish": func(b *strings.Builder) error { return root.GenFishCompletion(b, true) },
		"muster.ps1":  func(b *strings.Builder) error { return root.GenPowerShellCompletionWithDesc(b) },
	} {
		var b strings.Builder
		if err := write(&b); err != nil {
			return err
		}
		pages[filepath.Join("completions", name)] = b.String()
	}
	for name, text := range pages {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return err
		}
		if err := files.WriteBytes(name, []byte(text)); err != nil {
			return err
		}
	}
	return nil
}

// dashed is the name of a command's page.
func dashed(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manPage writes a command's page, in the macros of man(7).
func manPage(cmd *cobra.Command) string {
	m := &roff{}
	m.macro(".TH", strings.ToUpper(dashed(cmd)), "1", "", "Muster", "Muster")
	m.macro(".SH", "NAME")
	m.line(dashed(cmd) + ` \- ` + escape(strings.TrimSuffix(cmd.Short, ".")))
	m.macro(".SH", "SYNOPSIS")
	if cmd.HasAvailableSubCommands() {
		m.macro(".B", cmd.CommandPath())
		m.macro(".I", "COMMAND")
	} else {
		m.macro(".B", cmd.CommandPath())
		m.text(strings.TrimPrefix(cmd.UseLine(), cmd.CommandPath()+" "))
	}
	m.macro(".SH", "DESCRIPTION")
	m.body(cmd.Long)
	if cmd.HasAvailableSubCommands() {
		m.macro(".SH", "COMMANDS")
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				m.macro(".TP")
				m.macro(".B", c.Name())
				m.text(c.Short)
			}
		}
	}
	cmd.InitDefaultHelpFlag()
	for i, g := range groupedFlags(cmd.Flags()) {
		if i == 0 {
			m.macro(".SH", "OPTIONS")
		}
		if i > 0 || g.title != "Flags" {
			m.macro(".SS", g.title)
		}
		g.flags.VisitAll(m.flag)
	}
	if cmd.HasExample() {
		m.macro(".SH", "EXAMPLES")
		m.body(cmd.Example)
	}
	m.macro(".SH", "SEE ALSO")
	var also []string
	for _, c := range append([]*cobra.Command{cmd.Root()}, cmd.Root().Commands()...) {
		if c != cmd && (c == cmd.Root() || c.IsAvailableCommand() && c.Name() != "completion") {
			also = append(also, `\fB`+escape(dashed(c))+`\fR(1)`)
		}
	}
	slices.Sort(also)
	m.line(strings.Join(also, ", "))
	return m.String()
}

// A roff is a manual page.
type roff struct{ strings.Builder }

func (m *roff) line(s string) { fmt.Fprintln(m, s) }

func (m *roff) macro(name string, args ...string) {
	for _, a := range args {
		name += ` "` + strings.ReplaceAll(escape(a), `"`, `\(dq`) + `"`
	}
	m.line(name)
}

// text writes a line of text, which is no macro.
func (m *roff) text(s string) {
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		m.WriteString(`\&`)
	}
	m.line(escape(s))
}

// body writes paragraphs; lines that are indented stay as they are.
func (m *roff) body(text string) {
	example := false
	for line := range strings.SplitSeq(strings.Trim(text, "\n"), "\n") {
		if in := strings.HasPrefix(line, " "); in != example && line != "" {
			m.line(map[bool]string{true: ".EX", false: ".EE"}[in])
			example = in
		}
		switch {
		case line != "":
			m.text(line)
		case example:
			m.line("")
		default:
			m.line(".PP")
		}
	}
	if example {
		m.line(".EE")
	}
}

func (m *roff) flag(f *pflag.Flag) {
	if f.Hidden {
		return
	}
	flag, text := flagText(f)
	if f.Shorthand != "" {
		flag = "-" + f.Shorthand + ", " + flag
	}
	m.macro(".TP")
	m.macro(".B", flag)
	m.text(text)
}

// escape writes what roff would take for its own, and what a page in ASCII lacks.
func escape(s string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, "…", "...", "·", `\(pc`, "×", `\(mu`, "µ", `\(mc`, "'", `\(aq`, "`", `\(ga`).Replace(s)
}
