package tritonlog

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"strings"

	"muster/internal/skeleton"
	"muster/launch"
)

// maxBlob bounds the size of one buffer whose contents are kept.
const maxBlob = 1 << 30

// buffers describes the memory of a launch.
func (d *describer) buffers() error {
	made := false
	for i, r := range d.memory.regions {
		typ := r.typ()
		shape := r.shape(typ)
		data, why := d.contents(r)
		fill := ""
		switch {
		case data != nil:
			path, err := d.o.Keep(&Array{r.name, typ, shape, data})
			if err != nil {
				return err
			}
			fill = fmt.Sprintf("{file: '%s'}", strings.ReplaceAll(path, "'", "''"))
		case r.written && !r.ranged():
			fill, made = "zeros", true
		default:
			fill, made = r.random(i, typ), true
		}
		var notes []string
		for k, t := range r.tensors {
			text := ""
			if len(r.tensors) > 1 || r.name != r.names[k] {
				text = tidy(r.names[k])
			}
			if len(r.tensors) > 1 || !t.contiguous() || launch.B8 == typ || len(t.Shape) == 0 {
				if text != "" {
					text += ": "
				}
				text += t.String()
			}
			if text != "" && len(notes) < 8 {
				notes = append(notes, text)
			}
		}
		if r.written {
			notes = append(notes, "written")
		}
		if why != "" {
			notes = append(notes, why)
		}
		d.out.Buffers = append(d.out.Buffers, skeleton.Entry{
			Text:    fmt.Sprintf("%s: {type: %s, shape: %s, fill: %s}", r.name, typ, ints(shape), fill),
			Comment: strings.Join(notes, "; "),
		})
	}
	if made {
		d.say("contents of buffers are made up where the log has none; TRITONPARSE_SAVE_TENSOR_BLOBS=1 keeps them")
	}
	return nil
}

// limits returns the least and the largest element of a tensor, if the log has them.
func (t *tensor) limits() (lo, hi float64, ok bool) {
	if t.Min == nil || t.Max == nil {
		return 0, 0, false
	}
	lo, hi = float64(*t.Min), float64(*t.Max)
	return lo, hi, lo <= hi && !math.IsInf(lo, 0) && !math.IsInf(hi, 0)
}

// ranged reports whether the log has limits of what a region holds.
func (r *region) ranged() bool {
	_, _, ok := r.tensors[0].limits()
	return ok && len(r.tensors) == 1
}

// random makes up contents, within the limits that the log has.
func (r *region) random(seed int, typ launch.Type) string {
	lo, hi := 0.0, 1.0
	if typ == launch.B8 {
		return "zeros"
	}
	if a, b, ok := r.tensors[0].limits(); ok && len(r.tensors) == 1 {
		largest := map[launch.Type]float64{launch.F16: 65504, launch.BF16: 3.38e38, launch.F32: 3.4e38, launch.E4M3: 448, launch.E5M2: 57344}[typ]
		switch {
		case typ.IsFloat() && largest > 0:
			lo, hi = max(a, -largest), min(b, largest)
		case typ.IsFloat() && b-a < math.MaxFloat64:
			lo, hi = a, b
		case !typ.IsFloat() && a == math.Trunc(a) && b == math.Trunc(b):
			// Within the type: the log has rounded them.
			bits := 8 * typ.Size()
			least, most := 0.0, math.Ldexp(1, bits)
			if typ == launch.S8 || typ == launch.S16 || typ == launch.S32 || typ == launch.S64 {
				least, most = -most/2, most/2
			}
			if most = math.Nextafter(most, 0); bits < 64 {
				most = math.Trunc(most)
			}
			lo, hi = max(a, least), min(b, most)
			if lo > hi {
				lo, hi = 0, 1
			}
		}
	}
	return fmt.Sprintf("{random: {seed: %d, low: %s, high: %s}}", seed, floatText(lo), floatText(hi))
}

// contents returns what a region held, or why that is not known: nothing, if the log does not
// say that it was saved.
func (d *describer) contents(r *region) (data []byte, why string) {
	for _, t := range r.tensors {
		if t.Blob == "" || d.o.Blob == nil || d.o.Keep == nil {
			if t.Missing != "" {
				return nil, "contents are not saved: " + tidy(t.Missing)
			}
			return nil, ""
		}
	}
	size := r.end - r.begin
	if size > maxBlob {
		return nil, fmt.Sprintf("contents are left out: more than %d MiB", maxBlob>>20)
	}
	data = make([]byte, size)
	for _, t := range r.tensors {
		file, err := d.o.Blob(t.Blob)
		if err != nil {
			return nil, "contents are not found: " + tidy(err.Error())
		}
		saved, err := storage(file)
		if err != nil {
			return nil, "contents cannot be read: " + tidy(err.Error())
		}
		if int64(len(saved)) != t.extent || !t.dense() {
			return nil, fmt.Sprintf("contents are saved in another order: %d bytes of %d", len(saved), t.extent)
		}
		copy(data[r.offset(t):], saved)
	}
	return data, ""
}

// storage returns the bytes of the one tensor that torch.save wrote.
func storage(file []byte) ([]byte, error) {
	z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, errors.New("no file of torch.save")
	}
	var data *zip.File
	for _, f := range z.File {
		switch dir, name := path.Split(f.Name); {
		case name == "byteorder":
			if b, err := member(f, 16); err != nil || string(b) != "little" {
				return nil, errors.New("not in little-endian order")
			}
		case path.Base(dir) == "data":
			if data != nil {
				return nil, errors.New("more than one tensor")
			}
			data = f
		}
	}
	if data == nil {
		return nil, errors.New("no data in it")
	}
	return member(data, maxBlob)
}

func member(f *zip.File, most int64) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(b)) > most {
		err = fmt.Errorf("more than %d MiB", most>>20)
	}
	return b, err
}
