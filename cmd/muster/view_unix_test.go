//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
)

// TestViewServed: the page and what it asks for are served at one address of the loopback
// interface, to who names that host, and nothing else is, until an interrupt. It runs alone:
// the signal reaches every command of the process.
func TestViewServed(t *testing.T) {
	out, in := io.Pipe()
	var errors strings.Builder
	status := make(chan int)
	go func() {
		code := doMain([]string{"view", "../../examples/ring/broken_bytes.yaml"}, strings.NewReader(""), in, &errors)
		in.Close()
		status <- code
	}()
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err, <-status, errors.String())
	}
	url = strings.TrimSpace(url)
	root, _, _ := strings.Cut(strings.TrimPrefix(url, "http://"), "/")
	page := ask(t, "GET", url, "", http.StatusOK)
	if !strings.Contains(page, "detail?run=0\\u0026step=") {
		t.Error("the page does not say where to ask")
	}
	detail := ask(t, "GET", url+"detail?run=0&step=54", "", http.StatusOK)
	from, n := binary.Uvarint([]byte(detail))
	to, _ := binary.Uvarint([]byte(detail)[max(n, 0):])
	if from != 1 || to != 55 {
		t.Errorf("a window from %d to %d", from, to)
	}
	for _, c := range []struct {
		method, url, host string
		status            int
	}{
		{"GET", url, "localhost:" + root[strings.Index(root, ":")+1:], http.StatusOK},
		{"HEAD", url, "", http.StatusOK},
		{"GET", url, "evil.example", http.StatusForbidden},
		{"GET", url, "127.0.0.1", http.StatusForbidden},
		{"GET", url + "detail?run=0&step=1", "evil.example:80", http.StatusForbidden},
		{"POST", url, "", http.StatusMethodNotAllowed},
		{"GET", "http://" + root + "/", "", http.StatusNotFound},
		{"GET", url + "x", "", http.StatusNotFound},
		{"GET", url + "../detail?run=0&step=1", "", http.StatusNotFound},
		{"GET", url + "detail", "", http.StatusBadRequest},
		{"GET", url + "detail?run=0&step=x", "", http.StatusBadRequest},
		{"GET", url + "detail?run=0&step=55", "", http.StatusNotFound},
		{"GET", url + "detail?run=0&step=0", "", http.StatusNotFound},
		{"GET", url + "detail?run=-1&step=1", "", http.StatusNotFound},
		{"GET", url + "detail?run=1&step=1", "", http.StatusNotFound},
		{"GET", url + "detail?run=0&step=99999999999999999999", "", http.StatusBadRequest},
	} {
		ask(t, c.method, c.url, c.host, c.status)
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if code := <-status; code != exitClean {
		t.Errorf("exit status %d: %s", code, errors.String())
	}
	if _, err := http.Get(url); err == nil {
		t.Error("it is still served")
	}
}

func ask(t *testing.T, method, url, host string, status int) string {
	t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = host
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	if err != nil || got.StatusCode != status {
		t.Errorf("%s %s of host %q: status %d, %v, want %d", method, url, host, got.StatusCode, err, status)
	}
	return string(body)
}
