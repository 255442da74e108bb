//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
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
		{"GET", url + "detail?run=0&step=-9223372036854775808", "", http.StatusNotFound},
		{"GET", url + "detail?run=0&step=9223372036854775807", "", http.StatusNotFound},
		{"GET", url + "detail?run=0&step=1%00", "", http.StatusBadRequest},
		{"GET", url + "detail?" + strings.Repeat("step=1&", 1000) + "run=0", "", http.StatusOK},
		{"GET", url + "detail?" + strings.Repeat("a", 1<<20), "", http.StatusRequestHeaderFieldsTooLarge},
		{"GET", url + "%2e%2e/%2e%2e/etc/passwd", "", http.StatusNotFound},
		{"GET", url + "..%5c..%5cetc", "", http.StatusNotFound},
		{"GET", "http://" + root + "//etc/passwd", "", http.StatusNotFound},
		{"PUT", url + "detail?run=0&step=1", "", http.StatusMethodNotAllowed},
		{"DELETE", url, "", http.StatusMethodNotAllowed},
		{"OPTIONS", url, "", http.StatusMethodNotAllowed},
		{"FROB", url, "", http.StatusMethodNotAllowed},
	} {
		ask(t, c.method, c.url, c.host, c.status)
	}
	// Many at a time: each has its answer.
	var all sync.WaitGroup
	for n := range 1000 {
		all.Go(func() {
			want := detail
			if got := ask(t, "GET", fmt.Sprintf("%sdetail?run=0&step=%d", url, n%54+1), "", http.StatusOK); got != want {
				t.Errorf("request %d has %d bytes, not %d", n, len(got), len(want))
			}
		})
	}
	all.Wait()
	// Clients that say nothing, half of a request, or do not read their answer: they are in
	// nobody's way, and do not keep the command from its end.
	for _, said := range []string{"", "GET " + url + " HTT", "GET /" + strings.SplitN(url, "/", 4)[3] + " HTTP/1.1\r\nHost: " + root + "\r\n\r\n"} {
		c, err := net.Dial("tcp", root)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := io.WriteString(c, said); err != nil {
			t.Fatal(err)
		}
	}
	ask(t, "GET", url, "", http.StatusOK)
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

// TestViewSources: of the files that PTX names, a page takes along those that are sources, and
// reads nothing else: a pipe would never end, and what a link leads to may be no source.
func TestViewSources(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	write := func(name, text string) { must(os.WriteFile(in(name), []byte(text), 0o600)) }
	write("good.cu", "good\n")
	write("secret.txt", "a secret\n")
	write("binary.cu", "a\x00b")
	write("latin.cu", "caf\xe9\n")
	must(os.Mkdir(in("folder.cu"), 0o700))
	must(syscall.Mkfifo(in("pipe.cu"), 0o600))
	must(os.Symlink("/dev/zero", in("device.cu")))
	must(os.Symlink("secret.txt", in("link.cu")))
	must(os.Symlink("good.cu", in("alias.cu")))
	must(os.Symlink("circle.cu", in("circle.cu")))
	write("sparse.cu", "")
	must(os.Truncate(in("sparse.cu"), 2<<30))
	write("closed.cu", "closed\n")
	must(os.Chmod(in("closed.cu"), 0))
	names := []string{"good.cu", "secret.txt", "binary.cu", "latin.cu", "folder.cu", "pipe.cu", "device.cu", "link.cu", "alias.cu", "circle.cu", "sparse.cu", "none.cu", "../" + filepath.Base(dir) + "/good.cu", "/dev/stdin", strings.Repeat("a", 5000) + ".cu", "k\x01.cu"}
	if os.Getuid() != 0 { // who may read all, reads it
		names = append(names, "closed.cu")
	}
	text := ".version 8.0\n.target sm_90\n.address_size 64\n"
	for i, name := range names {
		text += fmt.Sprintf(".file %d \"%s\"\n", i+1, name)
	}
	text += ".visible .entry k()\n{\n\t.reg .b32 %r<3>;\n"
	for i := range names {
		text += fmt.Sprintf("\t.loc %d 1 0\n\tmov.u32 %%r1, %%tid.x;\n", i+1)
	}
	write("k.ptx", text+"\tret;\n}\n")
	var out, errs strings.Builder
	if status := doMain([]string{"view", in("k.ptx"), "--grid", "1", "--block", "32", "--html", in("page.html")}, strings.NewReader(""), &out, &errs); status != exitClean {
		t.Fatal(status, errs.String())
	}
	page, err := os.ReadFile(in("page.html"))
	must(err)
	wholePage(t, "a page with sources", page)
	var about struct{ Texts []struct{ File, Kind string } }
	must(json.Unmarshal(aboutOf.FindSubmatch(page)[1], &about))
	var got []string
	for _, x := range about.Texts {
		if x.Kind == "source" {
			got = append(got, x.File)
		}
	}
	if want := []string{"good.cu", "latin.cu", "alias.cu", "../" + filepath.Base(dir) + "/good.cu"}; !slices.Equal(got, want) {
		t.Errorf("the page has sources %q, want %q", got, want)
	}
}
