package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

var ways = []struct {
	name string
	f    func(context.Context, job) ([32]byte, error)
}{
	{"pipeline", viaPipeline},
	{"channels", viaChannels},
	{"one-by-one", oneByOne},
}

func random(n int) []byte {
	data := make([]byte, n)
	r := rand.NewChaCha8([32]byte{1})
	r.Read(data)
	return data
}

func TestCopy(t *testing.T) {
	for _, size := range []int{0, 1, 999, 1000, 1001, 123_456} {
		for _, stages := range []int{1, 2, 5} {
			for _, way := range ways {
				data := random(size)
				to, err := os.Create(filepath.Join(t.TempDir(), "to"))
				if err != nil {
					t.Fatal(err)
				}
				defer to.Close()
				sum, err := way.f(t.Context(), job{from: bytes.NewReader(data), to: to, size: int64(size), chunk: 1000, stages: stages})
				if err != nil || sum != sha256.Sum256(data) {
					t.Errorf("%s of %d bytes, %d stages: %x, %v", way.name, size, stages, sum, err)
				}
				if got, _ := os.ReadFile(to.Name()); !bytes.Equal(got, data) {
					t.Errorf("%s of %d bytes, %d stages: the copy differs", way.name, size, stages)
				}
			}
		}
	}
}

type broken struct{ after int64 }

func (b broken) ReadAt(p []byte, at int64) (int, error) {
	if at >= b.after {
		return 0, errors.New("no more")
	}
	return len(p), nil
}

func (b broken) WriteAt(p []byte, at int64) (int, error) { return b.ReadAt(p, at) }

// TestErrors: a failing read or write ends the job with its error, and everybody goes home.
func TestErrors(t *testing.T) {
	for _, way := range ways {
		for _, at := range []int64{0, 4_000, 49_000} {
			for _, j := range []job{
				{from: broken{at}, to: broken{1 << 40}},
				{from: broken{1 << 40}, to: broken{at}},
			} {
				j.size, j.chunk, j.stages = 50_000, 1000, 3
				if _, err := way.f(t.Context(), j); err == nil || err.Error() != "no more" {
					t.Errorf("%s, failing at %d: %v", way.name, at, err)
				}
			}
		}
		if way.name == "one-by-one" {
			continue
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		_, err := way.f(ctx, job{from: slow{}, to: broken{1 << 40}, size: 1 << 40, chunk: 1000, stages: 3})
		if cancel(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s, out of time: %v", way.name, err)
		}
	}
}

type slow struct{}

func (slow) ReadAt(p []byte, _ int64) (int, error) {
	time.Sleep(100 * time.Microsecond)
	return len(p), nil
}

func TestRun(t *testing.T) {
	from, to := filepath.Join(t.TempDir(), "from"), filepath.Join(t.TempDir(), "to")
	data := random(5000)
	if err := os.WriteFile(from, data, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, via := range []string{"pipeline", "channels"} {
		if err := run(via, 512, 3, []string{from, to}); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(to); !bytes.Equal(got, data) {
			t.Errorf("via %s: the copy differs", via)
		}
	}
	for _, err := range []error{
		run("post", 512, 3, []string{from, to}), run("pipeline", 1<<20, 3, []string{from, to}),
		run("pipeline", 512, 3, []string{from}), run("pipeline", 512, 3, []string{from + "?", to}),
	} {
		if err == nil {
			t.Error("no error")
		}
	}
}

// BenchmarkCopy copies a file that is in the page cache. latency-µs is the median time from asking for a
// chunk until it was hashed and written.
func BenchmarkCopy(b *testing.B) {
	dir := b.TempDir()
	const size = 16 << 20
	if err := os.WriteFile(filepath.Join(dir, "from"), random(size), 0o666); err != nil {
		b.Fatal(err)
	}
	from, err := os.Open(filepath.Join(dir, "from"))
	if err != nil {
		b.Fatal(err)
	}
	defer from.Close()
	to, err := os.Create(filepath.Join(dir, "to"))
	if err != nil {
		b.Fatal(err)
	}
	defer to.Close()
	files(b, from, to, size, []int{4 << 10, 64 << 10, 512 << 10})
}

// BenchmarkCopySlow has reads that take 200 µs and writes that take 100, as from a network.
func BenchmarkCopySlow(b *testing.B) {
	files(b, late{200 * time.Microsecond}, late{100 * time.Microsecond}, 2<<20, []int{64 << 10})
}

type late struct{ d time.Duration }

func (l late) ReadAt(p []byte, _ int64) (int, error)  { time.Sleep(l.d); return len(p), nil }
func (l late) WriteAt(p []byte, _ int64) (int, error) { time.Sleep(l.d); return len(p), nil }

func files(b *testing.B, from io.ReaderAt, to io.WriterAt, size int64, chunks []int) {
	for _, chunk := range chunks {
		for _, way := range ways {
			b.Run(fmt.Sprintf("chunk=%dKiB/via=%s", chunk>>10, way.name), func(b *testing.B) {
				b.SetBytes(size)
				took := make([]time.Duration, (size+int64(chunk)-1)/int64(chunk))
				j := job{from: from, to: to, size: size, chunk: chunk, stages: 4}
				j.done = func(offset int64, asked time.Time) { took[offset/int64(chunk)] = time.Since(asked) }
				for b.Loop() {
					if _, err := way.f(b.Context(), j); err != nil {
						b.Fatal(err)
					}
				}
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1e3, "latency-µs")
			})
		}
	}
}
