package launch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"muster/internal/files"
)

// An Array is the contents of an .npy file: elements in C order, little
// endian. Descr is NumPy's type: byte order ('<', or '|' for single bytes),
// kind and size, as "<f4".
type Array struct {
	Descr string
	Shape []int64
	Data  []byte
}

// An NpyHeader is the header of an .npy file.
type NpyHeader struct {
	Descr string
	Shape []int64
	Size  int64 // bytes of data that follow
	Len   int64 // bytes of the header itself
}

const (
	npyMagic     = "\x93NUMPY"
	maxNpyHeader = 64 << 10 // NumPy itself stops at 10,000 characters
)

var (
	errNotRegular = errors.New("not a regular file")
	errTruncated  = errors.New("truncated .npy file")
)

// ReadNpy reads an .npy file (format 1, 2 or 3) whose data is at most limit
// bytes. Fortran order, big-endian and structured or object types are refused.
// Errors name no file.
func ReadNpy(r io.Reader, limit int64) (*Array, error) {
	h, err := ReadNpyHeader(r)
	if err != nil {
		return nil, err
	}
	if h.Size > limit {
		return nil, fmt.Errorf("holds %s; the limit is %s", formatSize(uint64(h.Size)), formatSize(uint64(limit)))
	}
	data, err := readExactly(r, h, false)
	if err != nil {
		return nil, err
	}
	return &Array{Descr: h.Descr, Shape: h.Shape, Data: data}, nil
}

// readExactly reads the data that a header announces, and nothing may follow them. Unless
// they are known to be there, memory grows with the data received: a header alone costs none.
func readExactly(r io.Reader, h NpyHeader, there bool) ([]byte, error) {
	var data bytes.Buffer
	if there {
		data.Grow(int(h.Size) + bytes.MinRead)
	}
	n, err := io.Copy(&data, io.LimitReader(r, h.Size+1))
	switch {
	case err != nil:
		return nil, err
	case n < h.Size:
		return nil, fmt.Errorf("%w: %d of %d bytes of data", errTruncated, n, h.Size)
	case n > h.Size:
		return nil, fmt.Errorf("more data than the %d bytes that shape %s needs", h.Size, formatShape(h.Shape))
	}
	return data.Bytes(), nil
}

// ReadNpyHeader reads up to the start of the data.
func ReadNpyHeader(r io.Reader) (NpyHeader, error) {
	var start [8]byte
	if _, err := io.ReadFull(r, start[:]); err != nil {
		return NpyHeader{}, truncated(err, "the magic string")
	}
	if string(start[:6]) != npyMagic {
		return NpyHeader{}, errors.New("not an .npy file")
	}
	field := 4
	switch start[6] {
	case 1:
		field = 2
	case 2, 3:
	default:
		return NpyHeader{}, fmt.Errorf(".npy format %d.%d is not known", start[6], start[7])
	}
	var length [4]byte
	if _, err := io.ReadFull(r, length[:field]); err != nil {
		return NpyHeader{}, truncated(err, "the header's length")
	}
	n := binary.LittleEndian.Uint32(length[:])
	if n > maxNpyHeader {
		return NpyHeader{}, fmt.Errorf("an .npy header of %d bytes; the limit is %d", n, maxNpyHeader)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return NpyHeader{}, truncated(err, "the header")
	}
	h, err := parseNpyHeader(string(text))
	h.Len = int64(len(start)+field) + int64(n)
	return h, err
}

func truncated(err error, where string) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: it ends in %s", errTruncated, where)
	}
	return err
}

// parseNpyHeader reads the Python dictionary of a header.
func parseNpyHeader(text string) (NpyHeader, error) {
	p := &pyScanner{text: text}
	h := NpyHeader{Shape: []int64{}}
	seen := make(map[string]bool)
	fortran := false
	p.want('{')
	for p.err == nil && !p.accept('}') {
		key := p.str()
		p.want(':')
		if p.err == nil && seen[key] {
			p.fail("key %q twice", key)
		}
		seen[key] = true
		switch key {
		case "descr":
			h.Descr = p.str()
		case "fortran_order":
			fortran = p.boolean()
		case "shape":
			h.Shape = p.tuple()
		default:
			p.fail("unknown key %s", quote(key))
		}
		if !p.accept(',') {
			p.want('}')
			break
		}
	}
	if p.end(); p.err != nil {
		return h, p.err
	}
	if len(seen) != 3 {
		return h, errors.New("bad .npy header: it needs descr, fortran_order and shape")
	}
	if fortran && len(h.Shape) > 1 {
		return h, errors.New("the array is in Fortran order; save it in C order (numpy.ascontiguousarray)")
	}
	return h, h.measure()
}

// measure checks type and shape and computes Size.
func (h *NpyHeader) measure() error {
	size, err := descrSize(h.Descr)
	if err != nil {
		return err
	}
	if len(h.Shape) > MaxRank {
		return fmt.Errorf("an array of %d dimensions; at most %d are allowed", len(h.Shape), MaxRank)
	}
	n, ok := elements(h.Shape)
	if !ok || n > maxElements/size {
		return fmt.Errorf("shape %s is too large", formatShape(h.Shape))
	}
	h.Size = n * size
	return nil
}

// descrSize checks a type string and returns the bytes of one element.
func descrSize(descr string) (int64, error) {
	if len(descr) < 3 || !strings.Contains("<>|=", descr[:1]) || !strings.Contains("biufcV", descr[1:2]) {
		return 0, fmt.Errorf("unsupported dtype %s", quote(descr))
	}
	size, err := strconv.ParseUint(descr[2:], 10, 16)
	switch {
	case err != nil || size == 0:
		return 0, fmt.Errorf("unsupported dtype %s", quote(descr))
	case descr[0] == '>' && size > 1:
		return 0, fmt.Errorf("dtype %s is big-endian; save it little-endian", quote(descr))
	}
	return int64(size), nil
}

// WriteNpy writes an array in format 1.0, byte for byte as numpy.save does.
func WriteNpy(w io.Writer, a *Array) error {
	size, err := descrSize(a.Descr)
	if err != nil {
		return err
	}
	if n, ok := elements(a.Shape); !ok || n > maxElements/size || n*size != int64(len(a.Data)) {
		return fmt.Errorf("shape %s of %s does not take %d bytes", formatShape(a.Shape), a.Descr, len(a.Data))
	}
	if err := WriteNpyHeader(w, a.Descr, a.Shape); err != nil {
		return err
	}
	_, err = w.Write(a.Data)
	return err
}

// WriteNpyHeader writes what stands before the data of an .npy file in format 1.0.
func WriteNpyHeader(w io.Writer, descr string, shape []int64) error {
	// NumPy reserves room for the first dimension to grow to 20 digits, then pads so that
	// the data begins at a multiple of 64.
	dict := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, formatTuple(shape))
	if len(shape) > 0 {
		dict += strings.Repeat(" ", 21-len(strconv.FormatInt(shape[0], 10)))
	}
	const before = len(npyMagic) + 4
	pad := 64 - (before+len(dict)+1)%64 // 64, not 0, if already aligned, as in NumPy
	dict += strings.Repeat(" ", pad) + "\n"
	head := binary.LittleEndian.AppendUint16([]byte(npyMagic+"\x01\x00"), uint16(len(dict)))
	_, err := w.Write(append(head, dict...))
	return err
}

// NpyDescr is the NumPy type for WriteNpy of an array of type t.
func (t Type) NpyDescr() string {
	first, _, _ := strings.Cut(t.info().npy, " ")
	if strings.HasSuffix(first, "1") && t.Size() == 1 || t == TensorMapType {
		return "|" + first
	}
	return "<" + first
}

// holds reports whether an array of NumPy type descr can fill a buffer of t.
func (t Type) holds(descr string) bool {
	for _, code := range strings.Fields(t.info().npy) {
		if descr != "" && descr[1:] == code {
			return true
		}
	}
	return false
}

// readArrayFile reads an .npy for a buffer of type t into memory of exactly its size. A
// nil shape accepts the file's; p is the position that names the file.
func readArrayFile(p Pos, path string, t Type, shape []int64, name string) ([]byte, error) {
	f, h, err := openArrayFile(p, path, t, shape, name)
	if err != nil {
		return nil, err
	}
	return readArray(p, path, f, h)
}

// readArray reads an opened array and closes it.
func readArray(p Pos, path string, f io.ReadCloser, h NpyHeader) ([]byte, error) {
	defer f.Close()
	_, measured := f.(*os.File) // else compressed
	data, err := readExactly(f, h, measured)
	if err != nil {
		return nil, &Error{Pos: p, Msg: path + ": " + err.Error(), Err: err}
	}
	return data, nil
}

// openArrayFile makes all checks that need no memory, and leaves the file at its data.
func openArrayFile(p Pos, path string, t Type, shape []int64, name string) (io.ReadCloser, NpyHeader, error) {
	f, size, err := openData(path)
	if err != nil {
		return nil, NpyHeader{}, &Error{Pos: p, Msg: path + ": " + files.Cause(err).Error(), Err: err}
	}
	h, err := ReadNpyHeader(f)
	if err == nil {
		err = checkArrayFile(size, h, t, shape, name)
	}
	if err != nil {
		f.Close()
		return nil, h, &Error{Pos: p, Msg: path + ": " + files.Cause(err).Error(), Err: err}
	}
	return f, h, nil
}

// checkArrayFile checks a header, and the size of the file if that is known.
func checkArrayFile(size int64, h NpyHeader, t Type, shape []int64, name string) error {
	if !t.holds(h.Descr) {
		return fmt.Errorf("dtype %s does not fit buffer %q of type %s (want %s)", h.Descr, name, t, t.NpyDescr())
	}
	want := shape
	if t == TensorMapType {
		if len(h.Shape) == 0 || h.Shape[len(h.Shape)-1] != int64(t.Size()) {
			return fmt.Errorf("shape %s; tensor maps need a last dimension of %d", formatShape(h.Shape), t.Size())
		}
		want = append(append([]int64{}, shape...), int64(t.Size()))
	}
	if shape != nil && !equalShapes(want, h.Shape) {
		return fmt.Errorf("shape %s does not fit buffer %q of shape %s", formatShape(h.Shape), name, formatShape(shape))
	}
	if size < 0 {
		return nil
	}
	switch data := size - h.Len; {
	case data < h.Size:
		return fmt.Errorf("%w: %d of %d bytes of data", errTruncated, data, h.Size)
	case data > h.Size:
		return fmt.Errorf("%d bytes of data, more than the %d that shape %s needs", data, h.Size, formatShape(h.Shape))
	}
	return nil
}
