package capture

import (
	"io"

	"github.com/klauspost/compress/zstd"

	"muster/launch"
)

// Folders hold arrays compressed by Zstandard, which the library alone does not read: it
// decompresses what the standard library does.
func init() {
	launch.RegisterDecompressor(".zst", func(r io.Reader) (io.ReadCloser, error) {
		d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxWindow))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	})
}

// maxWindow bounds the memory of a decompressor.
const maxWindow = 128 << 20
