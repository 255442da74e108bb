package capture

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// An event is a line of a process's record; which of the first fields is set says what it is.
type event struct {
	Process *int   // the process, once
	Module  *int   // of a launch, or: an image was saved
	Launch  *int   // a launch is about to be made
	After   *int   // a launch has ended
	Repeat  *int   // a launch was made again, with the same parameters
	Graph   *int   // so many launches went into graphs, until now
	Without string // a kernel that cannot be captured

	Rank       string
	GPU        string
	Capability [2]int
	Driver     int

	How, File, Why string

	Ordinal                          int64
	Kernel                           string
	Device                           int
	Context, Stream                  string
	Grid, Block                      [3]uint32
	Shared, Static, Local, Registers uint32
	Heap                             uint64
	Attributes                       [][4]uint32
	Params                           [][2]int
	Args                             string
	Maps                             []foreignMap
	Early                            bool // what came before had not ended
	Follows                          *int // the recorded launch that is directly before it in its stream; -1: none
	Again                            bool // that was a repetition of it
	Nodes                            []node
	Buffers                          []buffer
	Result                           int
	Ended                            bool
	Micros                           int64
	Times                            uint64
}

// A foreignMap is a tensor map, at an offset of the parameters, that the card which is there
// cannot encode. Numbers are those of the driver's encoder: type, rank, address, interleave,
// swizzle, L2 promotion, fill, then shape, strides, box and element strides.
type foreignMap struct {
	At      int
	Text    string
	Numbers []uint64
	// Wide has, of a map in a wide mode of im2col, the mode, the corners, the channels of a
	// pixel and the pixels of a column.
	Wide []int64
}

// A node is one of a graph that was launched.
type node struct {
	Type                     int
	After                    [][2]int // node, and 1 for a programmatic edge
	Lacks                    string   // why it cannot be part of a sequence
	Kernel                   string
	Module                   int
	Grid, Block              [3]uint32
	Shared, Registers, Value uint32
	Params                   [][2]int
	Args                     string
	Attributes               [][4]uint32
	To, From                 address
	Bytes                    uint64
}

// A buffer is an allocation, or a variable of the module.
type buffer struct {
	Base     address
	Size     int64
	Kind     string // device, host, managed, peer
	Variable string
	File     string // its bytes before the launch; "": not kept
	after    string // its bytes after it
}

// afterOf names the bytes after a launch by those before it.
func afterOf(file string) string { return strings.Replace(file, ".b", ".a", 1) }

// An address is written as a string.
type address uint64

func (a *address) UnmarshalJSON(b []byte) error {
	s, err := strconv.Unquote(string(b))
	if err != nil {
		return err
	}
	v, err := strconv.ParseUint(s, 0, 64)
	*a = address(v)
	return err
}

// A process is its record.
type process struct {
	dir     string
	about   event
	images  map[int]event
	list    []*recorded
	without []event
	graphs  int // launches into graphs
}

// A recorded launch.
type recorded struct {
	event
	after *event // nil: the process ended before it did
	times uint64 // that it was repeated
	again bool   // of a sequence, in which others are like those that were recorded
}

// readRecord reads what a process left. The last line may be cut: a process can be killed.
func readRecord(dir string) (*process, error) {
	f, err := os.Open(filepath.Join(dir, "events"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p := &process{dir: dir, images: map[int]event{}}
	launches := map[int]*recorded{}
	r := bufio.NewReader(f)
	for n := 1; ; n++ {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return p, nil
		}
		if err != nil {
			return nil, err
		}
		var e event
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&e); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", f.Name(), n, err)
		}
		switch {
		case e.Launch != nil:
			l := &recorded{event: e}
			launches[*e.Launch] = l
			p.list = append(p.list, l)
		case e.After != nil:
			if l := launches[*e.After]; l != nil {
				l.after = &e
			}
		case e.Repeat != nil:
			if l := launches[*e.Repeat]; l != nil {
				l.times = e.Times
			}
		case e.Graph != nil:
			p.graphs = *e.Graph
		case e.Without != "":
			p.without = append(p.without, e)
		case e.Module != nil:
			p.images[*e.Module] = e
		case e.Process != nil:
			p.about = e
		}
	}
}
