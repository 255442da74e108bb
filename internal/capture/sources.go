package capture

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"muster/internal/entry"
	"muster/internal/fatbin"
	"muster/internal/machine"
	"muster/launch"
	"muster/ptx"
)

// sources finds the PTX of the images that programs load, and answers what it says.
type sources struct {
	record string
	as     int      // the card that a dry capture answers as; 0: the one that is there
	ptx    []string // folders where PTX is found by a kernel's name
	mu     sync.Mutex
	images map[string]*image  // by path
	named  map[string]*module // by image and kernel: PTX that was found by the name
	// surroundings are of images with kernels without PTX.
	surroundings map[string]surrounding
}

// An image is what a program gave to the driver: a fat binary, PTX, or machine code.
type image struct {
	modules []*module           // with PTX
	units   bool                // the modules are units of a program: one may refer to others
	whole   map[*module]*module // linked with what they refer to
	machine bool                // machine code, without PTX
	kernels []string            // in it
	archs   []string            // of machine code in a fat binary without PTX
	why     string              // there is no PTX
	err     error
}

// A module is PTX: one text, or several that are linked.
type module struct {
	texts [][]byte
	arch  int
	name  string // where it was found, if not in the image itself
	how   string
	mod   *ptx.Module
}

func newSources(record string) *sources {
	return &sources{record: record, images: map[string]*image{}, named: map[string]*module{}, surroundings: map[string]surrounding{}}
}

// keyOf names an image of the record by its process and its file: programs know the record's
// folder by another path.
func keyOf(path string) string {
	return filepath.Join(filepath.Base(filepath.Dir(path)), filepath.Base(path))
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

// answer describes a kernel of an image: a line `ptx CAPABILITY` if there is PTX of it, `param OFFSET
// SIZE` for each parameter, `variable NAME` for each variable that it names.
func (s *sources) answer(path, kernel string, there int) string {
	m, f := s.find(path, kernel, there)
	if m == nil {
		s.around(path, there)
		return "none\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "ptx %d\n", m.target())
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
		if ptx.Written(name) == name { // else the driver has two of that name
			fmt.Fprintf(&b, "variable %s\n", name)
		}
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
	i := s.image(path)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range i.fitting(there) {
		if m.kernel(kernel) != nil {
			m = i.linked(m)
			return m, m.kernel(kernel)
		}
	}
	if i.machine {
		if m := s.byName(path, kernel); m != nil {
			return m, m.kernel(kernel)
		}
	}
	return nil, nil
}

// kernel returns a kernel of a module; nil if it has none of that name.
func (m *module) kernel(name string) *ptx.Func {
	for _, it := range m.mod.Items {
		if f, ok := it.(*ptx.Func); ok && f.Entry && f.Body != nil && f.Name == name {
			return f
		}
	}
	return nil
}

// linked returns a module with those of its program that it refers to. Of several that define
// a name, those for the module's own architecture are first.
func (i *image) linked(m *module) *module {
	if !i.units {
		return m
	}
	if i.whole[m] != nil {
		return i.whole[m]
	}
	i.whole[m] = m
	var mods []*ptx.Module
	for _, own := range []bool{true, false} {
		for _, o := range i.modules {
			if slices.Equal(o.mod.Target, m.mod.Target) == own {
				mods = append(mods, o.mod)
			}
		}
	}
	mods = ptx.NewLinkSet(mods).With(m.mod)
	all, err := ptx.Link(mods...)
	if len(mods) == 1 || err != nil {
		return m // 'muster check' will say why
	}
	whole := &module{arch: m.arch, name: m.name, how: m.how, mod: all}
	for _, o := range mods {
		k := slices.IndexFunc(i.modules, func(x *module) bool { return x.mod == o })
		whole.texts = append(whole.texts, i.modules[k].texts...)
	}
	i.whole[m] = whole
	return whole
}

// fitting lists the modules of an image, those that a card can run first, of these the newest.
func (i *image) fitting(capability int) []*module {
	var list []*module
	for _, fit := range []bool{true, false} {
		for k := range i.modules {
			if m := i.modules[k]; m.runsOn(capability) == fit {
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
	if i := s.images[keyOf(path)]; i != nil {
		return i
	}
	i := &image{}
	s.images[keyOf(path)] = i
	data, err := os.ReadFile(path)
	if err == nil {
		err = s.read(i, path, data)
	}
	if i.err = err; err != nil {
		i.why = err.Error()
	}
	slices.SortStableFunc(i.modules, func(a, b *module) int { return b.arch - a.arch })
	return i
}

func (s *sources) read(i *image, path string, data []byte) error {
	switch {
	case bytes.HasPrefix(data, []byte("\x7fELF")):
		name := s.beside(path, data)
		switch {
		case name == "":
			i.machine, i.kernels = true, kernelsOf(data)
			return nil
		case strings.HasSuffix(name, ".cubin"):
			i.parts(name)
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return i.add(module{texts: [][]byte{text}, name: name, how: "beside its machine code"})
	case len(data) > 4 && data[0] == 0x50 && data[1] == 0xed:
		list, err := fatbin.Read(path, data)
		if err != nil {
			return err
		}
		var cubins []string
		for _, e := range list {
			if e.Kind == fatbin.Cubin {
				cubins = append(cubins, fmt.Sprintf("sm_%d%s", e.Arch, e.Suffix))
				i.kernels = append(i.kernels, kernelsOf(e.Data)...)
				continue
			}
			if err := i.add(module{texts: [][]byte{e.Data}, arch: e.Arch}); err != nil {
				i.err = err // another may do
			}
		}
		if len(i.modules) == 0 && i.err == nil {
			return i.program(path, unique(cubins))
		}
		return nil
	}
	text := bytes.TrimRight(data, "\x00")
	if name, ok := bytes.CutPrefix(text, []byte(linkedMark)); ok {
		i.parts(strings.TrimSpace(string(name)))
		return nil
	}
	return i.add(module{texts: [][]byte{text}})
}

// maxProgram bounds the programs that are searched for PTX of their units.
const maxProgram = 1 << 28

// program finds the PTX of a fat binary that the device linker made (nvcc -rdc=true): the
// program that it lies in has that of its units.
func (i *image) program(path string, cubins []string) error {
	from, err := os.ReadFile(path + ".from")
	name := string(from)
	i.machine, i.archs = true, cubins
	if info, err2 := os.Stat(name); err != nil || err2 != nil || info.Size() > maxProgram {
		return nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	list, err := texts(name, data)
	if err != nil {
		return err
	}
	for _, e := range list {
		same := func(m *module) bool { return bytes.Equal(m.texts[0], e.Data) }
		if !e.Relocatable || slices.ContainsFunc(i.modules, same) {
			continue
		}
		if err := i.add(module{texts: [][]byte{e.Data}, arch: e.Arch, name: name, how: "as that of its units"}); err != nil {
			return err
		}
	}
	i.units, i.whole = true, map[*module]*module{}
	return nil
}

// texts returns the PTX of a program.
func texts(name string, data []byte) (list []fatbin.Entry, err error) {
	err = fatbin.Each(name, data, false, func(e fatbin.Entry) error {
		if e.Kind == fatbin.PTX {
			list = append(list, e)
		}
		return nil
	})
	return list, err
}

// linkedMark is what a linker of the driver makes in a dry capture (drySource of the shim).
const linkedMark = "// linked by the driver: "

// parts adds what code was linked from while the program ran: files of the code's name with a
// number behind it. Those without PTX may be libraries of which no kernel has need.
func (i *image) parts(path string) {
	for n := 0; n < launch.MaxModules; n++ {
		name := fmt.Sprintf("%s.%d", path, n)
		data, err := os.ReadFile(name)
		if err != nil {
			break
		}
		if !bytes.HasPrefix(data, []byte("\x7fELF")) && !bytes.HasPrefix(data, []byte{0x50, 0xed}) {
			err = i.add(module{texts: [][]byte{bytes.TrimRight(data, "\x00")}})
		} else if list, err2 := texts(name, data); err2 == nil {
			for _, e := range list {
				if err == nil {
					err = i.add(module{texts: [][]byte{e.Data}, arch: e.Arch})
				}
			}
		}
		if err != nil {
			i.why = "what it was linked from is no PTX that can be read: " + err.Error()
		}
	}
	i.units, i.whole = true, map[*module]*module{}
	if len(i.modules) == 0 && i.why == "" {
		i.why = "what it was linked from has no PTX"
	}
}

func (i *image) add(m module) (err error) {
	m.mod, err = ptx.Parse("captured.ptx", m.texts[0])
	if err == nil {
		i.modules = append(i.modules, &m)
	}
	return err
}

// byName finds PTX of an image's kernel by its name alone, in the folders where compilers keep
// what they make: the newest when the kernel is first launched, for names come again.
func (s *sources) byName(path, kernel string) *module {
	key := keyOf(path) + " " + kernel
	if m, ok := s.named[key]; ok {
		return m
	}
	entry := regexp.MustCompile(`\.entry\s+` + regexp.QuoteMeta(kernel) + `\b`)
	var best *module
	var when time.Time
	for _, dir := range s.ptx {
		_ = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(name) != ".ptx" {
				return nil // a folder that is not there, or is being written
			}
			info, err := d.Info()
			if err != nil || best != nil && !info.ModTime().After(when) {
				return nil
			}
			text, err := os.ReadFile(name)
			if err != nil || !entry.Match(text) {
				return nil
			}
			var i image
			if i.add(module{texts: [][]byte{text}, name: name, how: "by the kernel's name alone"}) == nil && i.modules[0].kernel(kernel) != nil {
				best, when = i.modules[0], info.ModTime()
			}
			return nil
		})
	}
	s.named[key] = best
	return best
}

func unique(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// maxPadding bounds the bytes behind machine code in a file: how long an image is was read from
// its headers.
const maxPadding = 4096

// beside finds the PTX of machine code: a file of the same bytes, with PTX beside it, among
// what NVRTC compiled in the process, and in the caches of Triton and of PyTorch's Inductor. It
// finds the file itself, if the code was linked in the process and what it is linked from is
// beside it.
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
				if _, err := os.Stat(name + ".0"); err != nil {
					return nil
				}
				text = name
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

// dumps are the folders to which compilers were told to write PTX.
func dumps() (dirs []string) {
	for _, name := range []string{"MOSAIC_GPU_DUMP_TO", "CUTE_DSL_DUMP_DIR", "TRITON_DUMP_DIR"} {
		if d := os.Getenv(name); d != "" {
			dirs = append(dirs, d)
		}
	}
	for _, flag := range strings.Fields(os.Getenv("XLA_FLAGS")) {
		if d, ok := strings.CutPrefix(flag, "--xla_dump_to="); ok {
			dirs = append(dirs, d)
		}
	}
	return dirs
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
