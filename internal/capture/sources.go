package capture

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"muster/internal/entry"
	"muster/internal/fatbin"
	"muster/internal/machine"
	"muster/ptx"
)

// sources finds the PTX of the images that programs load, and answers what it says.
type sources struct {
	record string
	as     int // the card that a dry capture answers as; 0: the one that is there
	mu     sync.Mutex
	images map[string]*image // by path
}

// An image is what a program gave to the driver: a fat binary, PTX, or machine code.
type image struct {
	modules []module // with PTX
	why     string   // there is none
	err     error
}

// A module is PTX.
type module struct {
	text []byte
	arch int
	name string // where it was found, if not in the image itself
	mod  *ptx.Module
}

func newSources(record string) *sources {
	return &sources{record: record, images: map[string]*image{}}
}

// serve answers questions on a socket until it is stopped.
func (s *sources) serve(path string) (stop func(), err error) {
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	var busy sync.WaitGroup
	busy.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			busy.Go(func() {
				defer c.Close()
				line, err := bufio.NewReader(c).ReadString('\n')
				var what, file string
				var there int // compute capability of the card
				if n, _ := fmt.Sscanf(line, "%s %d %s", &what, &there, &file); err != nil || n < 3 {
					return
				}
				answer := "none\n"
				switch what {
				case "kernel":
					_, kernel, _ := strings.Cut(line, file+" ")
					answer = s.answer(file, strings.TrimSuffix(kernel, "\n"), there)
				case "stub":
					answer = s.stub(file, there)
				}
				_, _ = c.Write([]byte(answer + "\n"))
			})
		}
	})
	return func() { l.Close(); busy.Wait() }, nil
}

// answer describes a kernel of an image: a line `ptx` if there is PTX of it, `param OFFSET
// SIZE` for each parameter, `variable NAME` for each variable that it names.
func (s *sources) answer(path, kernel string, there int) string {
	m, f := s.find(path, kernel, there)
	if m == nil {
		return "none\n"
	}
	var b strings.Builder
	b.WriteString("ptx\n")
	params, err := entry.Params(f)
	if err != nil {
		return "none\n"
	}
	at := 0
	for _, p := range params {
		at = (at + p.Align - 1) / p.Align * p.Align
		fmt.Fprintf(&b, "param %d %d\n", at, p.Size)
		at += p.Size
	}
	for _, name := range variables(m.mod, kernel) {
		fmt.Fprintf(&b, "variable %s\n", name)
	}
	return b.String()
}

// variables lists the variables in global and constant memory that a kernel, or a function that
// it calls, names. Those that it reaches by pointers alone are buffers to it.
func variables(m *ptx.Module, kernel string) (names []string) {
	prog, err := machine.Decode(m, kernel)
	if err != nil {
		return nil // 'muster check' will say why
	}
	for _, s := range prog.Symbols() {
		if !s.Shared {
			names = append(names, s.Name)
		}
	}
	return names
}

// find returns the module of an image with the PTX of a kernel, for the newest architecture
// that a card can run; nil if there is none.
func (s *sources) find(path, kernel string, there int) (*module, *ptx.Func) {
	if s.as != 0 {
		there = s.as
	}
	for _, m := range s.image(path).fitting(there) {
		for _, it := range m.mod.Items {
			if f, ok := it.(*ptx.Func); ok && f.Entry && f.Body != nil && f.Name == kernel {
				return m, f
			}
		}
	}
	return nil, nil
}

// fitting lists the modules of an image, those that a card can run first, of these the newest.
func (i *image) fitting(capability int) []*module {
	var list []*module
	for _, fit := range []bool{true, false} {
		for k := range i.modules {
			if m := &i.modules[k]; m.runsOn(capability) == fit {
				list = append(list, m)
			}
		}
	}
	return list
}

// image reads an image once.
func (s *sources) image(path string) *image {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.images[path]; i != nil {
		return i
	}
	i := &image{}
	s.images[path] = i
	data, err := os.ReadFile(path)
	if err == nil {
		err = s.read(i, path, data)
	}
	if i.err = err; err != nil {
		i.why = err.Error()
	}
	slices.SortStableFunc(i.modules, func(a, b module) int { return b.arch - a.arch })
	return i
}

func (s *sources) read(i *image, path string, data []byte) error {
	switch {
	case bytes.HasPrefix(data, []byte("\x7fELF")):
		name := s.beside(path, data)
		if name == "" {
			i.why = "it was loaded as machine code"
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return i.add(module{text: text, name: name})
	case len(data) > 4 && data[0] == 0x50 && data[1] == 0xed:
		list, err := fatbin.Read(path, data)
		if err != nil {
			return err
		}
		var cubins []string
		for _, e := range list {
			if e.Kind == fatbin.Cubin {
				cubins = append(cubins, fmt.Sprintf("sm_%d%s", e.Arch, e.Suffix))
				continue
			}
			if err := i.add(module{text: e.Data, arch: e.Arch}); err != nil {
				i.err = err // another may do
			}
		}
		if len(i.modules) == 0 && i.err == nil {
			i.why = "its program has machine code for " + strings.Join(unique(cubins), ", ") + " and no PTX"
		}
		return nil
	}
	return i.add(module{text: bytes.TrimRight(data, "\x00")})
}

func (i *image) add(m module) (err error) {
	m.mod, err = ptx.Parse("captured.ptx", m.text)
	if err == nil {
		i.modules = append(i.modules, m)
	}
	return err
}

func unique(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// maxPadding bounds the bytes behind machine code in a file: how long an image is was read from
// its headers.
const maxPadding = 4096

// beside finds the PTX of machine code: a file of the same bytes, with PTX beside it, among
// what NVRTC compiled in the process, and in the caches of Triton and of PyTorch's Inductor.
func (s *sources) beside(path string, data []byte) string {
	dirs := []string{filepath.Dir(path)}
	dirs = append(dirs, caches()...)
	for _, dir := range dirs {
		found := ""
		_ = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil // a cache that is not there, or is being written
			}
			if filepath.Ext(name) != ".cubin" {
				return nil
			}
			info, err := d.Info()
			if err != nil || info.Size() < int64(len(data)) || info.Size() > int64(len(data))+maxPadding {
				return nil
			}
			text := strings.TrimSuffix(name, ".cubin") + ".ptx"
			if _, err := os.Stat(text); err != nil {
				return nil
			}
			if same, err := os.ReadFile(name); err == nil && bytes.HasPrefix(same, data) {
				found = text
				return fs.SkipAll
			}
			return nil
		})
		if found != "" {
			return found
		}
	}
	return ""
}

// caches are the folders where Triton and Inductor keep what they compile.
func caches() (dirs []string) {
	if d := os.Getenv("TRITON_CACHE_DIR"); d != "" {
		dirs = append(dirs, d)
	} else if home, err := os.UserHomeDir(); err == nil {
		dirs = append(dirs, filepath.Join(home, ".triton", "cache"))
	}
	if d := os.Getenv("TORCHINDUCTOR_CACHE_DIR"); d != "" {
		dirs = append(dirs, d)
	}
	if list, err := filepath.Glob(filepath.Join(os.TempDir(), "torchinductor_*")); err == nil {
		dirs = append(dirs, list...)
	}
	return dirs
}
