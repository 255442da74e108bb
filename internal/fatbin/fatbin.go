// Package fatbin reads what nvcc puts into programs: fat binaries, with PTX and machine code
// for several architectures. They lie in files of their own, or in sections of an ELF file.
// NVIDIA does not document the format; the tests hold what is read here to cuobjdump.
package fatbin

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// A Kind says what an entry holds.
type Kind uint16

// The kinds. Others are left out.
const (
	PTX   Kind = 1
	Cubin Kind = 2 // machine code, an ELF file
)

// An Entry is the code of one unit of a program for one architecture.
type Entry struct {
	Kind    Kind
	Arch    int    // 90 for sm_90
	Suffix  string // "a" for sm_90a
	Version [2]int // of PTX, major and minor
	// Relocatable code is of a unit that the device linker links with others.
	Relocatable bool
	Place       int64  // the offset of its header in the file
	Data        []byte // PTX without the zeros behind it; nil where it was not asked for
}

// An Error says what is wrong with a file, and where.
type Error struct {
	Name  string
	Place int64 // bytes from its begin
	Msg   string
}

func (e *Error) Error() string { return fmt.Sprintf("%s: at byte %#x: %s", e.Name, e.Place, e.Msg) }

// A file is a sequence of fat binaries, and a fat binary a sequence of entries. All numbers
// are little-endian.
const (
	magic      = 0xba55ed50
	fileHeader = 16
	leastEntry = 64
	maxPTX     = 64 << 20 // bytes of one entry, decompressed
	maxCubin   = 1 << 28
	maxAll     = 1 << 30 // of all entries together

	flagAccelerated = 1 << 20 // the architecture's name ends in "a"
	flagLZ4         = 1 << 13
	flagZstd        = 1 << 15
)

// sections hold the fat binaries of an ELF file: of units that are linked by the host's
// linker alone, and of units for the device linker (nvcc -rdc=true).
var sections = []string{".nv_fatbin", relocatable}

const relocatable = "__nv_relfatbin"

// Read returns the entries of a fat binary, or of an executable, a library or an object.
func Read(name string, file []byte) (all []Entry, err error) {
	err = Each(name, file, true, func(e Entry) error {
		all = append(all, e)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// Each calls do for each entry in turn, and ends at its first error. Without cubins, machine code
// is named and not decompressed.
func Each(name string, file []byte, cubins bool, do func(Entry) error) error {
	r := &reader{name: name, cubins: cubins, left: maxAll}
	if !bytes.HasPrefix(file, []byte(elf.ELFMAG)) {
		if len(file) < 4 || binary.LittleEndian.Uint32(file) != magic {
			return &Error{name, 0, "this is no fat binary of CUDA, and no ELF file"}
		}
		return r.read(file, 0, do)
	}
	f, err := elf.NewFile(bytes.NewReader(file))
	if err != nil {
		return &Error{name, 0, "an ELF file that is cut off or damaged"}
	}
	for _, s := range f.Sections {
		if !slices.Contains(sections, s.Name) {
			continue
		}
		if s.Type == elf.SHT_NOBITS || s.Flags&elf.SHF_COMPRESSED != 0 || s.Offset > uint64(len(file)) || s.Size > uint64(len(file))-s.Offset {
			return &Error{name, int64(min(s.Offset, uint64(len(file)))), "section " + s.Name + " does not lie in the file"}
		}
		err := r.read(file[s.Offset:s.Offset+s.Size], int64(s.Offset), func(e Entry) error {
			e.Relocatable = s.Name == relocatable
			return do(e)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// A reader reads the fat binaries of a file.
type reader struct {
	name   string
	cubins bool  // machine code, too, is decompressed
	left   int64 // bytes that may still be decompressed
}

// read reads the entries of a sequence of fat binaries, which begins at an offset of the file.
func (r *reader) read(data []byte, from int64, do func(Entry) error) error {
	name := r.name
	for at := 0; at < len(data); {
		if len(data)-at < 4 || binary.LittleEndian.Uint32(data[at:]) == 0 {
			at += 4 // between two fat binaries
			continue
		}
		fail := func(format string, args ...any) error {
			return &Error{name, from + int64(at), fmt.Sprintf(format, args...)}
		}
		head := data[at:]
		if len(head) < fileHeader || binary.LittleEndian.Uint32(head) != magic {
			return fail("a fat binary should begin here")
		}
		if v := binary.LittleEndian.Uint16(head[4:]); v != 1 {
			return fail("a fat binary of version %d; only 1 is known", v)
		}
		header, size := uint64(binary.LittleEndian.Uint16(head[6:])), binary.LittleEndian.Uint64(head[8:])
		if header < fileHeader || header > uint64(len(head)) || size > uint64(len(head))-header {
			return fail("a fat binary of %d bytes, of which the file has %d", size, len(head))
		}
		begin := at + int(header)
		at = begin + int(size)
		for rest := data[begin:at]; len(rest) > 0; {
			e, n, err := r.entry(rest)
			e.Place = from + int64(at-len(rest))
			if err != nil {
				return &Error{name, e.Place, err.Error()}
			}
			if e.Kind == PTX || e.Kind == Cubin {
				if err := do(e); err != nil {
					return err
				}
			}
			rest = rest[n:]
		}
	}
	return nil
}

// entry reads the first of a sequence of entries, and returns its length.
func (r *reader) entry(b []byte) (e Entry, n int, err error) {
	if len(b) < leastEntry {
		return e, 0, fmt.Errorf("an entry of %d bytes, fewer than its header", len(b))
	}
	u32 := func(at int) uint64 { return uint64(binary.LittleEndian.Uint32(b[at:])) }
	header, payload := u32(4), binary.LittleEndian.Uint64(b[8:])
	if header < leastEntry || header > uint64(len(b)) || payload > uint64(len(b))-header {
		return e, 0, fmt.Errorf("an entry of %d and %d bytes, of which the fat binary has %d", header, payload, len(b))
	}
	n = int(header + payload)
	e.Kind = Kind(binary.LittleEndian.Uint16(b))
	e.Version = [2]int{int(binary.LittleEndian.Uint16(b[26:])), int(binary.LittleEndian.Uint16(b[24:]))}
	e.Arch = int(u32(28))
	flags, packed, size := binary.LittleEndian.Uint64(b[40:]), u32(16), binary.LittleEndian.Uint64(b[56:])
	if flags&flagAccelerated != 0 {
		e.Suffix = "a"
	}
	if e.Kind != PTX && e.Kind != Cubin {
		return e, n, nil
	}
	if e.Kind == Cubin && !r.cubins {
		return e, n, nil
	}
	e.Data = b[header:n:n]
	most := map[Kind]uint64{PTX: maxPTX, Cubin: maxCubin}[e.Kind]
	if compressed := flags & (flagLZ4 | flagZstd); compressed != 0 {
		if packed > payload || size > most {
			return e, 0, fmt.Errorf("an entry of %d bytes, %d when decompressed: too many", packed, size)
		}
		if r.left -= int64(size); r.left < 0 {
			return e, 0, fmt.Errorf("with this entry more than %d bytes are decompressed: too many", maxAll)
		}
		if e.Data, err = decompress(e.Data[:packed], int(size), compressed == flagLZ4); err != nil {
			return e, 0, fmt.Errorf("an entry that cannot be decompressed: %w", err)
		}
	}
	if e.Kind == PTX {
		e.Data = bytes.TrimRight(e.Data, "\x00")
	}
	return e, n, nil
}

var errDamaged = errors.New("it is damaged")

// decompress returns size bytes.
func decompress(packed []byte, size int, isLZ4 bool) ([]byte, error) {
	if isLZ4 {
		if size > 256*len(packed)+256 { // what LZ4 can at most
			return nil, fmt.Errorf("%d bytes out of %d", size, len(packed))
		}
		out := make([]byte, size)
		n, err := lz4.UncompressBlock(packed, out)
		switch {
		case err != nil:
			return nil, errDamaged
		case n != size:
			return nil, fmt.Errorf("%d bytes instead of %d", n, size)
		}
		return out, nil
	}
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(max(size, 1<<20))))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	out, err := d.DecodeAll(packed, nil)
	switch {
	case err != nil:
		return nil, errDamaged
	case len(out) != size:
		return nil, fmt.Errorf("%d bytes instead of %d", len(out), size)
	}
	return out, nil
}
