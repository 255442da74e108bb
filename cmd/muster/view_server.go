//go:build !js

package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"runtime"
	"strconv"
	"time"

	"muster"
)

// served refuses what cannot be served.
func (v *viewing) served() error { return nil }

// serve serves the page until it is interrupted.
func (v *viewing) serve(w *work, c *console, page *muster.View) error {
	s, err := newPageServer(page)
	if err != nil {
		return err
	}
	v.told(c, page, s.url)
	fmt.Fprintf(c.out, "%s\n", s.url)
	if v.browser {
		if err := openBrowser(s.url); err != nil {
			fmt.Fprintf(beside{c}, "muster: no browser: %v\n", err)
		}
	}
	return s.serve(w)
}

// A pageServer serves one page on the loopback address, under a path that nobody can guess:
// other users of the machine, and other pages in the browser, reach the port too. A request
// that names another host is refused: a name that leads here is how such a page would ask
// as if it came from here (DNS rebinding).
type pageServer struct {
	page   *muster.View
	html   []byte
	listen net.Listener
	hosts  []string
	path   string
	url    string
}

// requestTime bounds the work for one answer, and answerTime how long a client may take to
// read it: the page has up to 20 MB, and may come through a tunnel.
const (
	requestTime = 30 * time.Second
	answerTime  = 10 * time.Minute
)

func newPageServer(page *muster.View) (*pageServer, error) {
	var html bytes.Buffer
	if err := page.WriteHTML(&html); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	s := &pageServer{page: page, html: html.Bytes(), listen: l, hosts: []string{"127.0.0.1:" + port, "localhost:" + port}, path: "/" + rand.Text() + "/"}
	s.url = "http://" + s.hosts[0] + s.path
	return s, nil
}

// serve answers until the context ends.
func (s *pageServer) serve(ctx context.Context) error {
	server := &http.Server{
		Handler: s, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: answerTime, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	end := context.AfterFunc(ctx, func() { server.Close() })
	defer end()
	if err := server.Serve(s.listen); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (s *pageServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("X-Frame-Options", "DENY")
	switch {
	case r.Host != s.hosts[0] && r.Host != s.hosts[1]:
		http.Error(w, "this is another host", http.StatusForbidden)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "there is only GET", http.StatusMethodNotAllowed)
	case r.URL.Path == s.path:
		h.Set("Content-Type", "text/html; charset=utf-8")
		w.Write(s.html)
	case r.URL.Path == s.path+"detail":
		s.detail(w, r)
	default:
		http.Error(w, "there is no such page", http.StatusNotFound)
	}
}

// detail answers with registers and memory about a step.
func (s *pageServer) detail(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	run, err := strconv.Atoi(q.Get("run"))
	step, bad := strconv.Atoi(q.Get("step"))
	if err != nil || bad != nil {
		http.Error(w, "run and step are numbers", http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), requestTime)
	defer cancel()
	data, err := s.page.Detail(ctx, run, step)
	switch {
	case errors.Is(err, muster.ErrNoDetail):
		http.Error(w, err.Error(), http.StatusNotFound)
	case err != nil:
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	default:
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Write(data)
	}
}

// openBrowser opens a page in the user's browser.
func openBrowser(url string) error {
	name, args := "xdg-open", []string{url}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", url}
	}
	cmd := exec.Command(name, args...)
	if err := cmd.Start(); err != nil {
		return err
	}
	go cmd.Wait()
	return nil
}
