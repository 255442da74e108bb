// Command release builds the archives of a release: the command for each platform, static and
// stripped of where it was built, with manual pages, completion scripts and all licences, and
// SHA256SUMS. The same commit and the same Go make the same bytes, on any machine.
//
//	go run ./internal/release -o dist
package main

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// platforms are what is built.
var platforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

func main() {
	log.SetFlags(0)
	log.SetPrefix("release: ")
	out := flag.String("o", "dist", "the `folder` to make, which must not be there")
	only := flag.String("only", "", "build one `platform`, as linux/amd64")
	flag.Parse()
	list := platforms
	if *only != "" {
		if list = []string{*only}; !slices.Contains(platforms, *only) {
			log.Fatalf("-only %s: there are %s", *only, strings.Join(platforms, ", "))
		}
	}
	if err := release(*out, list); err != nil {
		log.Fatal(err)
	}
}

// A build is one release.
type build struct {
	work    string // a folder for the commit and what is built
	version string
	at      time.Time // of the commit: every file's time
	shared  []entry   // what every archive has
}

func release(out string, list []string) error {
	if _, err := os.Stat(out); err == nil {
		return fmt.Errorf("%s is there already; remove it, or name another folder", out)
	}
	out, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	b, err := begin()
	if err != nil {
		return err
	}
	defer os.RemoveAll(b.work)
	var done []entry
	var sums strings.Builder
	for _, platform := range list {
		name, data, err := b.archive(platform)
		if err != nil {
			return err
		}
		done = append(done, entry{name: name, data: data})
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(data), name)
		log.Printf("%s, %d bytes", name, len(data))
	}
	if err := os.MkdirAll(out, 0o777); err != nil {
		return err
	}
	for _, e := range append(done, entry{name: "SHA256SUMS", data: []byte(sums.String())}) {
		if err := os.WriteFile(filepath.Join(out, e.name), e.data, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// begin names the release after its commit.
func begin() (*build, error) {
	if dirty, err := run(nil, "git", "status", "--porcelain"); err != nil {
		return nil, err
	} else if dirty != "" {
		return nil, errors.New("the working tree has changes: a release is one of a commit")
	}
	revision, err := run(nil, "git", "describe", "--tags", "--always", "--abbrev=12")
	if err != nil {
		return nil, err
	}
	seconds, err := run(nil, "git", "show", "-s", "--format=%ct", "HEAD")
	if err != nil {
		return nil, err
	}
	at, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return nil, err
	}
	work, err := os.MkdirTemp("", "muster-release")
	if err != nil {
		return nil, err
	}
	b := &build{work: work, version: strings.TrimPrefix(revision, "v"), at: time.Unix(at, 0).UTC()}
	if err := b.prepare(); err != nil {
		os.RemoveAll(work)
		return nil, err
	}
	return b, nil
}

// prepare clones the commit, and makes what all archives have. A clone has nothing that git
// ignores, and the go command reads the revision of a binary from it, which it does not in a
// linked working tree.
func (b *build) prepare() error {
	head, err := run(nil, "git", "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	clone := filepath.Join(b.work, "clone")
	if _, err := run(nil, "git", "clone", "--quiet", "--shared", "--no-checkout", ".", clone); err != nil {
		return err
	}
	if err := os.Chdir(clone); err != nil {
		return err
	}
	if _, err := run(nil, "git", "-c", "advice.detachedHead=false", "checkout", "--quiet", head); err != nil {
		return err
	}
	return b.share()
}

// share collects the documents and the licences.
func (b *build) share() error {
	docs := filepath.Join(b.work, "share")
	if _, err := run(environment(runtime.GOOS+"/"+runtime.GOARCH), "go", "run", "./cmd/muster", "docs", docs); err != nil {
		return err
	}
	err := filepath.WalkDir(docs, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(b.work, name)
		if err != nil {
			return err
		}
		return b.add(filepath.ToSlash(rel), name)
	})
	if err != nil {
		return err
	}
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		if err := b.add(name, name); err != nil {
			return err
		}
	}
	return b.licences()
}

func (b *build) add(as, file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	b.shared = append(b.shared, entry{name: as, data: data})
	return nil
}

// licences adds the licences of what the command is linked with on any platform, and that of
// Go, whose library and runtime are in it.
func (b *build) licences() error {
	root, err := run(nil, "go", "env", "GOROOT")
	if err != nil {
		return err
	}
	if err := b.add("licences/go/LICENSE", filepath.Join(root, "LICENSE")); err != nil {
		return err
	}
	modules := map[string]string{}
	for _, platform := range platforms {
		text, err := run(environment(platform), "go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Dir}}{{end}}{{end}}", "./cmd/muster")
		if err != nil {
			return err
		}
		for line := range strings.Lines(text) {
			if path, dir, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
				modules[path] = dir
			}
		}
	}
	for path, dir := range modules {
		found := false
		for _, pattern := range []string{"LICEN[CS]E*", "NOTICE*", "COPYING*"} {
			names, err := filepath.Glob(filepath.Join(dir, pattern))
			if err != nil {
				return err
			}
			for _, name := range names {
				found = true
				if err := b.add("licences/"+path+"/"+filepath.Base(name), name); err != nil {
					return err
				}
			}
		}
		if !found {
			return fmt.Errorf("%s has no licence in %s", path, dir)
		}
	}
	return nil
}

// archive builds the command for a platform, and packs it.
func (b *build) archive(platform string) (name string, data []byte, err error) {
	goos, goarch, _ := strings.Cut(platform, "/")
	binary := filepath.Join(b.work, goos+"-"+goarch)
	if _, err := run(environment(platform), "go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w -buildid=", "-o", binary, "./cmd/muster"); err != nil {
		return "", nil, err
	}
	text, err := os.ReadFile(binary)
	if err != nil {
		return "", nil, err
	}
	if err := stamped(binary); err != nil {
		return "", nil, err
	}
	folder := fmt.Sprintf("muster-%s-%s-%s", b.version, goos, goarch)
	command := entry{name: "muster", data: text, program: true}
	pack, suffix := tarball, ".tar.gz"
	if goos == "windows" {
		command.name, pack, suffix = "muster.exe", zipped, ".zip"
	}
	data, err = pack(folder, append(slices.Clone(b.shared), command), b.at)
	return folder + suffix, data, err
}

// stamped reports an error unless a binary says of which commit it is, without changes.
func stamped(binary string) error {
	text, err := run(nil, "go", "version", "-m", binary)
	if err != nil {
		return err
	}
	head, err := run(nil, "git", "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	if !strings.Contains(text, "vcs.revision="+head) || !strings.Contains(text, "vcs.modified=false") {
		return fmt.Errorf("the binary does not say that it is of %s:\n%s", head, text)
	}
	return nil
}

// environment is that of a build: nothing of this machine's settings changes the bytes.
func environment(platform string) []string {
	goos, goarch, _ := strings.Cut(platform, "/")
	return []string{"CGO_ENABLED=0", "GOOS=" + goos, "GOARCH=" + goarch, "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOFIPS140=off", "GOWORK=off", "GOTOOLCHAIN=local", "GOFLAGS=-mod=readonly"}
}

// run runs a program, and returns what it prints.
func run(env []string, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", strings.Join(cmd.Args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}
