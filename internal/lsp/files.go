package lsp

import (
	"os"
	"sync"
	"time"

	"muster/internal/files"
)

// A fileCache keeps texts of files that are not open, as long as the files stay the same.
type fileCache struct {
	mu   sync.Mutex
	list []cachedFile // the last used at the end
}

type cachedFile struct {
	path string
	at   time.Time
	size int64
	text *text
}

// Bounds of the cache.
const (
	mostFiles = 64
	maxFile   = 64 << 20
	mostBytes = 256 << 20
)

// get reads a file; nil for one that cannot be read.
func (c *fileCache) get(path string, inUTF8 bool) *text {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, f := range c.list {
		if f.path == path {
			c.list = append(c.list[:i:i], c.list[i+1:]...)
			if f.at.Equal(info.ModTime()) && f.size == info.Size() {
				c.list = append(c.list, f)
				return f.text
			}
			break
		}
	}
	src, err := files.Read(path, maxFile)
	if err != nil {
		return nil
	}
	f := cachedFile{path, info.ModTime(), info.Size(), newText(uriOf(path), string(src), nil, inUTF8)}
	c.list = append(c.list, f)
	total := int64(0)
	for i := len(c.list) - 1; i >= 0; i-- {
		if total += c.list[i].size; total > mostBytes && i < len(c.list)-1 || len(c.list)-i > mostFiles {
			c.list = append([]cachedFile(nil), c.list[i+1:]...)
			break
		}
	}
	return f.text
}

// text is a document if it is open, and else the file; nil if it cannot be read.
func (v *view) text(path string) *text {
	if t := v.docs[path]; t != nil {
		return t
	}
	if path == "" {
		return nil
	}
	return v.files.get(path, v.utf8)
}

// uri names a file as the client does, if it is open.
func (v *view) uri(path string) string {
	if t := v.docs[path]; t != nil {
		return t.uri
	}
	return uriOf(path)
}
