package view

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"muster/internal/machine"
	"muster/internal/resolve"
	"muster/internal/rules"
	"muster/internal/story"
	"muster/internal/view/page"
	"muster/report"
)

// Version is that of the data in a page.
const Version = 1

// A Range is an offset and a length in the blob.
type Range [2]int

// A Text is a file that the page shows.
type Text struct {
	File string `json:"file"`
	Kind string `json:"kind"` // "ptx", "source"
	Text Range  `json:"text"`
	Cut  bool   `json:"cut,omitempty"`
	// Loc: from a line of PTX on, which file and line of the source; line 0 for none.
	Loc [][3]any `json:"loc,omitempty"`
}

// A Memory is a buffer, a variable or a whole memory, as entries of windows name it.
type Memory struct {
	Name  string `json:"name"`
	Space string `json:"space"` // "global", "shared", "tensor", "local"
	Base  string `json:"base"`
	Size  uint64 `json:"size"`
	Elem  uint64 `json:"elem,omitempty"`
}

// A Word is a step of the run's story.
type Word struct {
	Step   int      `json:"step"` // the last of a stretch
	First  int      `json:"first"`
	Text   string   `json:"text"`
	Where  string   `json:"where,omitempty"`
	Role   string   `json:"role,omitempty"`
	Site   *int     `json:"site,omitempty"`
	Ledger []string `json:"ledger,omitempty"`
}

// A Run is a run, as the page has it.
type Run struct {
	Name     string   `json:"name"`
	Schedule string   `json:"schedule"`
	Steps    int      `json:"steps"`
	Cut      string   `json:"cut"`
	End      string   `json:"end"`
	Finding  string   `json:"finding"`
	Words    []Word   `json:"words"`
	Tracks   Range    `json:"tracks"`
	Strings  Range    `json:"strings"`
	Marks    Range    `json:"marks"`
	Detail   [][4]int `json:"detail"`
	Sites    []Site   `json:"sites"`
	Live     string   `json:"live"`
}

// A Kind is what the catalogue says of a kind of finding.
type Kind struct {
	Title string `json:"title"`
	Text  string `json:"text"` // paragraphs, with an empty line between them
	// Edge is 1 if the first of a finding's places must come before the second and does not,
	// -1 the other way, and 0 if no order is missing.
	Edge int `json:"edge"`
}

// A Document is what a page shows: a report, and runs.
type Document struct {
	about struct {
		Version  int             `json:"version"`
		Report   json.RawMessage `json:"report"`
		Texts    []Text          `json:"texts"`
		Memories []Memory        `json:"memories"`
		Runs     []*Run          `json:"runs"`
		Kinds    map[string]Kind `json:"kinds"` // those of the report
	}
	blob  []byte
	texts map[string]uint64
	lives []*Live
}

// New returns a document without texts and runs.
func New(r *report.Report, names *resolve.Resolver) (*Document, error) {
	d := &Document{texts: map[string]uint64{}}
	var b bytes.Buffer
	if err := r.WriteJSON(&b); err != nil {
		return nil, err
	}
	d.about.Version, d.about.Report, d.about.Texts, d.about.Runs = Version, b.Bytes(), []Text{}, []*Run{}
	d.memories(names)
	d.about.Kinds = map[string]Kind{}
	for i := range r.Findings {
		if k := rules.Lookup(r.Findings[i].Kind); k != nil {
			d.about.Kinds[k.Name] = Kind{k.Title, k.Text, int(k.Edge())}
		}
	}
	return d, nil
}

// memories lists what entries of windows name.
func (d *Document) memories(names *resolve.Resolver) {
	n := story.NewNamer(names)
	for i := range names.Regions {
		g := &names.Regions[i]
		m := Memory{Name: clipped(n.Memory(machine.Global, g)), Space: "global", Base: fmt.Sprintf("%#x", g.Base), Size: g.Size, Elem: g.Elem}
		if g.Shared {
			m.Space = "shared"
		}
		d.about.Memories = append(d.about.Memories, m)
	}
	for _, m := range []Memory{{Space: "global", Name: n.Memory(machine.Global, nil)}, {Space: "shared", Name: n.Memory(machine.SharedOf(0), nil)},
		{Space: "tensor", Name: n.Memory(machine.TensorOf(0), nil), Elem: 4}} {
		m.Base = "0x0"
		d.about.Memories = append(d.about.Memories, m)
	}
	for _, list := range localVars(names.Program) {
		for _, v := range list {
			d.about.Memories = append(d.about.Memories, Memory{Name: v.text, Space: "local", Base: "0x0", Size: v.shown, Elem: v.Elem})
		}
	}
}

// mostText and mostTexts bound a text, and all of them.
const (
	mostText  = 8 << 20
	mostTexts = 24 << 20
)

// AddText adds a file, whole or as much of it as there is room for.
func (d *Document) AddText(file, kind string, data []byte, loc [][3]any) {
	room := mostTexts
	for _, t := range d.about.Texts {
		room -= t.Text[1]
	}
	t := Text{File: file, Kind: kind, Loc: loc}
	if most := max(0, min(room, mostText)); len(data) > most {
		data, t.Cut = data[:most], true
	}
	if !utf8.Valid(data) {
		data = bytes.ToValidUTF8(data, []byte("\uFFFD"))
	}
	t.Text = d.put(data)
	if kind == "ptx" {
		d.texts[file] = uint64(len(d.about.Texts))
	}
	d.about.Texts = append(d.about.Texts, t)
}

func (d *Document) put(data []byte) Range {
	at := Range{len(d.blob), len(data)}
	d.blob = append(d.blob, data...)
	return at
}

// list puts a list into the blob, as JSON: of a long run it is long, and alike.
func (d *Document) list(of any) (Range, error) {
	data, err := json.Marshal(of)
	return d.put(data), err
}

// AddRun records a run and adds it, with its story.
// It returns why the run is cut; empty if it is not.
func (d *Document) AddRun(of Subject, name string, told *report.Story) (cut string, err error) {
	x, err := recordFitting(&of, d.texts)
	if err != nil {
		return "", err
	}
	r := &Run{Name: name, Schedule: of.About.Schedule, Steps: len(of.Run), Cut: of.About.Cut, Finding: of.About.Finding,
		Words: words(told), Detail: [][4]int{}, Sites: x.s.sites}
	if r.Sites == nil {
		r.Sites = []Site{}
	}
	if r.Cut == "" {
		end, cut := of.Ended(x.m)
		r.End, r.Cut = clipped(end), clipped(cut)
	}
	r.Marks = d.put(x.s.data)
	if r.Tracks, err = d.list(x.s.tracks); err != nil {
		return "", err
	}
	if r.Strings, err = d.list(x.s.text.list); err != nil {
		return "", err
	}
	for _, w := range x.windows {
		at := d.put(w.data)
		r.Detail = append(r.Detail, [4]int{w.from, w.to, at[0], at[1]})
	}
	d.lives = append(d.lives, nil)
	if of.Live && len(of.Run) > 0 {
		r.Live = fmt.Sprintf("detail?run=%d&step=", len(d.about.Runs))
		d.lives[len(d.lives)-1] = &Live{turn: make(chan struct{}, 1), run: of.Run, d: x.d, shots: x.shots}
	}
	d.about.Runs = append(d.about.Runs, r)
	return r.Cut, nil
}

// recordFitting records a run, or as many of its steps as a page can have.
func recordFitting(of *Subject, texts map[string]uint64) (*recording, error) {
	for {
		x, err := record(*of, texts)
		if !errors.Is(err, errTooLarge) || len(of.Run) == 0 {
			return x, err
		}
		of.Run = of.Run[:x.step*9/10]
		of.About.Cut = fmt.Sprintf("its first %d steps are what a page can have", len(of.Run))
	}
}

// AddNone adds a run of which there is nothing to see, and why.
func (d *Document) AddNone(name, schedule, finding, why string) {
	d.about.Runs = append(d.about.Runs, &Run{Name: name, Schedule: schedule, Finding: finding, Cut: why, Words: []Word{},
		Tracks: d.put([]byte("[]")), Strings: d.put([]byte("[]")), Detail: [][4]int{}, Sites: []Site{}})
	d.lives = append(d.lives, nil)
}

// words are the steps of a story.
func words(told *report.Story) []Word {
	list := []Word{}
	if told == nil {
		return list
	}
	for i := range told.Steps {
		s := &told.Steps[i]
		w := Word{Step: s.Last, First: s.First, Where: clipped(s.Where), Role: s.Role, Text: s.Who}
		for _, text := range s.Ledger {
			w.Ledger = append(w.Ledger, clipped(text))
		}
		for k, what := range s.Does {
			w.Text += map[bool]string{true: ": ", false: "; "}[k == 0] + what
		}
		w.Text = clipped(w.Text)
		if s.Choice != "" && s.Site >= 0 {
			w.Site = &s.Site
		}
		list = append(list, w)
	}
	return list
}

// About is the JSON of the page, Blob the bytes that it points into.
func (d *Document) About() ([]byte, error) { return json.Marshal(&d.about) }

// Blob returns the bytes that About points into.
func (d *Document) Blob() []byte { return d.blob }

// Live returns what makes registers and memory of run n; nil if there is none.
func (d *Document) Live(n int) *Live {
	if n < 0 || n >= len(d.lives) {
		return nil
	}
	return d.lives[n]
}

// Write writes the page.
func (d *Document) Write(w io.Writer) error {
	served := slices.ContainsFunc(d.lives, func(l *Live) bool { return l != nil })
	about, err := d.About()
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write(d.blob); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return page.Write(w, about, packed.Bytes(), served)
}
