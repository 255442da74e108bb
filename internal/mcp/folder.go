package mcp

import (
	"container/list"
	"context"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// folder returns the folder that a call's paths are relative to: the server's, or the first of
// the client's roots that has the file.
func (s *Server) folder(ctx context.Context, client *mcp.ServerSession, path string) string {
	if path == "" || filepath.IsAbs(path) || exists(s.o.Dir, path) {
		return s.o.Dir
	}
	for _, dir := range s.rootsOf(ctx, client) {
		if exists(dir, path) {
			return dir
		}
	}
	return s.o.Dir
}

func exists(dir, path string) bool {
	_, err := os.Stat(filepath.Join(dir, path))
	return err == nil
}

// rootsOf asks a client for its roots, each time: they may change.
func (s *Server) rootsOf(ctx context.Context, client *mcp.ServerSession) (dirs []string) {
	if client == nil {
		return nil
	}
	p := client.InitializeParams()
	//lint:ignore SA1019 roots are of the protocol's revisions up to 2025-11-25, which clients speak
	if p == nil || p.Capabilities == nil || p.Capabilities.RootsV2 == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second) // for a client that does not answer
	defer cancel()
	//lint:ignore SA1019 as above
	got, err := client.ListRoots(ctx, nil)
	if err != nil {
		return nil
	}
	for _, r := range got.Roots {
		if u, err := url.Parse(r.URI); err == nil && u.Scheme == "file" {
			dirs = append(dirs, filepath.FromSlash(u.Path))
		}
	}
	return dirs
}

// A schedules keeps schedules that are too long for an answer, by their names.
type schedules struct {
	mu     sync.Mutex
	byName map[string]*list.Element
	order  list.List // of [2]string, the newest first
	bytes  int
}

// maxKept bounds the schedules that are kept, in bytes.
const maxKept = 64 << 20

func (s *schedules) keep(named map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byName == nil {
		s.byName = map[string]*list.Element{}
	}
	for name, text := range named {
		if e := s.byName[name]; e != nil {
			s.order.MoveToFront(e)
			continue
		}
		s.byName[name] = s.order.PushFront([2]string{name, text})
		s.bytes += len(text)
	}
	for s.bytes > maxKept {
		e := s.order.Back()
		kept := e.Value.([2]string)
		s.order.Remove(e)
		delete(s.byName, kept[0])
		s.bytes -= len(kept[1])
	}
}

// named returns the schedule that a name stands for.
func (s *schedules) named(name string) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.byName[name]; e != nil {
		return e.Value.([2]string)[1], true
	}
	return "", false
}
