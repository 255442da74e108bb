package files

import (
	"errors"
	"io"
	"io/fs"
)

// ErrDamaged is the error of compressed data that cannot be read.
var ErrDamaged = errors.New("the compressed data are damaged or cut off")

// Decompressed reads from a decompressor, whose errors it replaces by ErrDamaged: they speak of
// the format.
type Decompressed struct{ From io.Reader }

func (d Decompressed) Read(data []byte) (int, error) {
	n, err := d.From.Read(data)
	var p *fs.PathError
	if err != nil && err != io.EOF && !errors.As(err, &p) {
		err = ErrDamaged
	}
	return n, err
}
