package corpus

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"muster/launch"
)

//go:embed testdata
var files embed.FS

// A Size is a number of CTAs and of threads of each.
type Size struct{ Grid, Block int }

// A Kernel is one of the corpus with its launch.
type Kernel struct {
	Name, Kind  string
	PTX         string // the path of its module in testdata
	Size, Small Size
	Cooperative bool
	Wrong       bool
	Wants       []Want
	args        []string // as the launch file has them
	buffers     []string
}

// A Want is what a buffer holds in the end.
type Want struct {
	How    string // want, near, sorted
	Buffer string
	Values []float64
}

// Kernels lists the corpus in the order of its files.
func Kernels() ([]Kernel, error) {
	names, err := fs.Glob(files, "testdata/*.cu")
	if err != nil {
		return nil, err
	}
	var list []Kernel
	for _, n := range names {
		text, err := files.ReadFile(n)
		if err != nil {
			return nil, err
		}
		for i, line := range strings.Split(string(text), "\n") {
			line, ok := strings.CutPrefix(line, "//! ")
			if !ok {
				continue
			}
			if list, err = add(list, strings.TrimSuffix(n, ".cu")+".ptx", strings.Fields(line)); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", n, i+1, err)
			}
		}
	}
	return list, nil
}

// add adds what one line says.
func add(list []Kernel, ptx string, w []string) ([]Kernel, error) {
	k := &Kernel{}
	if len(list) > 0 {
		k = &list[len(list)-1]
	}
	switch {
	case w[0] == "arg" && len(w) == 5:
		content := `"fill": "` + w[4] + `"`
		if c := w[4][0]; c < 'a' || c > 'z' {
			content = `"values": [` + w[4] + `]`
		}
		k.buffers = append(k.buffers, fmt.Sprintf(`%q: {"type": %q, "shape": [%s], %s}`, w[1], w[2], w[3], content))
		k.args = append(k.args, strconv.Quote(w[1]))
	case w[0] == "val" && len(w) == 2:
		k.args = append(k.args, `{"u32": `+w[1]+`}`)
	case w[0] == "want" || w[0] == "near" || w[0] == "sorted":
		v, err := elements(w[2])
		if err != nil {
			return nil, err
		}
		k.Wants = append(k.Wants, Want{w[0], w[1], v})
	case len(w) >= 5 && w[3] == "small":
		n := Kernel{Name: w[0], Kind: w[1], PTX: ptx}
		for i, s := range []*Size{&n.Size, &n.Small} {
			if _, err := fmt.Sscanf(w[2+2*i], "%dx%d", &s.Grid, &s.Block); err != nil {
				return nil, fmt.Errorf("%q is no size", w[2+2*i])
			}
		}
		for _, x := range w[5:] {
			n.Cooperative = n.Cooperative || x == "cooperative"
			n.Wrong = n.Wrong || x == "wrong"
		}
		return append(list, n), nil
	default:
		return nil, fmt.Errorf("a line of the corpus begins with a kernel, arg, val, want, near or sorted, not %q", w[0])
	}
	return list, nil
}

// elements reads the elements of a buffer.
func elements(text string) ([]float64, error) {
	var list []float64
	for _, t := range strings.Split(text, ",") {
		t, times, some := strings.Cut(t, "*")
		n := 1
		if some {
			var err error
			if n, err = strconv.Atoi(times); err != nil {
				return nil, fmt.Errorf("%q is no number of elements", times)
			}
		}
		for i := range n {
			switch t {
			case "up":
				list = append(list, float64(i))
			case "down":
				list = append(list, float64(n-1-i))
			default:
				v, err := strconv.ParseFloat(t, 64)
				if err != nil {
					return nil, fmt.Errorf("%q is no element", t)
				}
				list = append(list, v)
			}
		}
	}
	return list, nil
}

// Launch is the launch of a kernel at a size. It names the module by its place in this
// package's folder.
func (k *Kernel) Launch(s Size) (*launch.File, error) {
	more := ""
	if k.Cooperative {
		more = `"cooperative": true, `
	}
	text := fmt.Sprintf(`{"ptx": %q, "kernel": %q, "grid": %d, "block": %d, %s"buffers": {%s}, "args": [%s]}`,
		path.Base(k.PTX), k.Name, s.Grid, s.Block, more, strings.Join(k.buffers, ", "), strings.Join(k.args, ", "))
	return launch.ParseJSON(strings.TrimSuffix(k.PTX, path.Base(k.PTX))+k.Name+".json", []byte(text))
}
