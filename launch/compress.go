package launch

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"sync"

	"muster/internal/files"
)

// decompressors open compressed data, by the end of the file's name.
var decompressors = struct {
	sync.RWMutex
	open map[string]func(io.Reader) (io.ReadCloser, error)
}{open: map[string]func(io.Reader) (io.ReadCloser, error){
	".gz": func(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) },
}}

// RegisterDecompressor makes arrays readable whose files' names end in ext, such as ".zst".
// This package knows ".gz" itself; the command muster registers ".zst" (Zstandard, RFC 8878).
func RegisterDecompressor(ext string, open func(io.Reader) (io.ReadCloser, error)) {
	decompressors.Lock()
	defer decompressors.Unlock()
	decompressors.open[ext] = open
}

// A compressed file is read through its decompressor.
type compressed struct {
	io.ReadCloser
	file *os.File
}

func (c *compressed) Read(data []byte) (int, error) {
	return files.Decompressed{From: c.ReadCloser}.Read(data)
}

func (c *compressed) Close() error {
	err := c.ReadCloser.Close()
	if e := c.file.Close(); err == nil {
		err = e
	}
	return err
}

// openData opens a regular file that may be compressed. The size is that of the data; -1 if
// only reading them will tell.
func openData(path string) (data io.ReadCloser, size int64, err error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, 0, err
	}
	ext := filepath.Ext(path)
	decompressors.RLock()
	open := decompressors.open[ext]
	decompressors.RUnlock()
	if open != nil {
		r, err := open(f)
		if err != nil {
			f.Close()
			return nil, 0, files.ErrDamaged
		}
		return &compressed{r, f}, -1, nil
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}
