// Package capture runs a program and keeps its launches of kernels as folders that 'muster
// check' and 'muster run' read: the PTX, the parameters, and the memory that they lead to,
// before and after.
//
// A piece of C (shim.c) is compiled where the program runs and preloaded into it. It records
// what it sees; this package answers what it asks about code while the program runs, and
// turns the record into folders when it has ended.
package capture

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"muster/internal/files"
	"muster/launch"
)

// Contents says which contents of buffers are kept.
type Contents int

// What is not kept is described by its shape and a seed.
const (
	Needed Contents = iota // those that decide where control goes, or an address
	All
	None
)

// Options say what to capture, and where to.
type Options struct {
	Dir       string // made; it must not be there, or be empty
	Kernel    string // an extended regular expression (POSIX); "": every kernel
	Launches  [][2]uint64
	MaxBytes  int64 // of the contents of one launch
	PerKernel int   // how many launches of one kernel, without Launches
	Contents  Contents
	Wait      time.Duration // for a launch to end
	Tight     bool          // PyTorch allocates each tensor by itself
	// PTX are folders where PTX is looked for by a kernel's name, where machine code was loaded.
	PTX []string
	// As is the compute capability of the card that a dry capture answers as, which launches
	// nothing; 0: the card that is there.
	As int
	// Decides reports whether what buffers hold can decide where control goes or which
	// address is accessed, for Needed.
	Decides func(*launch.File) (bool, error)
	// Log takes lines for the user.
	Log io.Writer
}

// recordName is the folder of the raw record, inside of the captured one. It goes when the
// record has become folders.
const recordName = ".record"

// Run runs a program and captures its launches. It returns the program's exit status; an
// error means that the program did not run.
func Run(ctx context.Context, o *Options, command []string, stdin io.Reader, stdout, stderr io.Writer) (status int, err error) {
	path, err := exec.LookPath(command[0])
	if err != nil {
		return 0, fmt.Errorf("%s: %w", command[0], errors.Unwrap(err))
	}
	switch list, err := os.ReadDir(o.Dir); {
	case err == nil && len(list) > 0:
		return 0, fmt.Errorf("%s is there already, with %s in it; remove it, or name another folder with -o", o.Dir, list[0].Name())
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return 0, &files.WriteError{Name: o.Dir, Err: files.Cause(err)}
	}
	if err := areFolders(o.PTX); err != nil {
		return 0, err
	}
	shim, remove, err := library()
	if err != nil {
		return 0, err
	}
	defer remove()
	record, err := prepare(o)
	defer func() {
		if err != nil && record != "" { // the program did not run: the next try finds an empty folder
			_ = os.RemoveAll(record)
		}
	}()
	if err != nil {
		return 0, err
	}
	top, err := meetingPlace(o, record)
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(top)
	s := newSources(record)
	s.as = o.As
	s.ptx = append(dumps(), o.PTX...)
	stop, err := s.serve(filepath.Join(top, "socket"))
	if err != nil {
		return 0, err
	}
	cmd := exec.Command(path, command[1:]...)
	cmd.Args[0] = command[0]
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, stderr
	s.ptx = append(s.ptx, filepath.Join(top, dumpsName))
	cmd.Env = environment(o, shim, top)
	// A signal is the program's: it ends, and what was recorded is kept.
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, heard()...)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		stop()
		return 0, err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for ended := false; !ended; {
		select {
		case sig := <-signals:
			if !typed(sig) {
				_ = cmd.Process.Signal(sig)
			}
		case <-ctx.Done():
			_ = cmd.Process.Kill()
			<-done
			ended = true
		case <-done:
			ended = true
		}
	}
	stop()
	status = cmd.ProcessState.ExitCode()
	if w, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		status = 128 + int(w.Signal())
	}
	if err := o.convert(s, record); errors.Is(err, fs.ErrNotExist) && !exists(record) {
		fmt.Fprintf(o.Log, "muster capture: nothing is kept: %s was removed while the program ran\n", o.Dir)
	} else if err != nil {
		fmt.Fprintf(o.Log, "muster capture: %v; what was recorded is in %s\n", err, record)
	}
	return status, nil
}

// prepare makes the folder, and in it that of the record.
func prepare(o *Options) (record string, err error) {
	if record, err = filepath.Abs(filepath.Join(o.Dir, recordName)); err != nil {
		return "", err
	}
	if err = os.MkdirAll(o.Dir, 0o700); err != nil {
		return "", &files.WriteError{Name: o.Dir, Err: files.Cause(err)}
	}
	if err = os.Mkdir(record, 0o700); errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("another capture writes to %s; name another folder with -o", o.Dir)
	} else if err != nil {
		return "", &files.WriteError{Name: record, Err: files.Cause(err)}
	}
	return record, os.Chmod(o.Dir, 0o700) // it holds what the program computes with
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// areFolders refuses what cannot hold PTX.
func areFolders(list []string) error {
	for _, dir := range list {
		info, err := os.Stat(dir)
		switch {
		case err != nil:
			return fmt.Errorf("--ptx %s: %w", dir, errors.Unwrap(err))
		case !info.IsDir():
			return fmt.Errorf("--ptx %s: it is no folder", dir)
		}
	}
	return nil
}

// meetingPlace makes a folder with a short path: with the options, the socket, and a link to
// the record.
func meetingPlace(o *Options, record string) (string, error) {
	top, err := temporary("muster-")
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if o.Kernel != "" {
		fmt.Fprintf(&b, "kernel=%s\n", o.Kernel)
	}
	for _, r := range o.Launches {
		fmt.Fprintf(&b, "launch=%d-%d\n", r[0], r[1])
	}
	fmt.Fprintf(&b, "dir=%s\n", strings.ReplaceAll(o.Dir, "\n", "?"))
	fmt.Fprintf(&b, "max-bytes=%d\nwait-ms=%d\nper-kernel=%d\n", o.MaxBytes, o.Wait.Milliseconds(), o.PerKernel)
	if o.As != 0 {
		cards[o.As].options(&b)
	}
	err = os.WriteFile(filepath.Join(top, "options"), []byte(b.String()), 0o600)
	if err == nil {
		err = os.Symlink(record, filepath.Join(top, "record"))
	}
	if err != nil {
		os.RemoveAll(top)
	}
	return top, err
}

// dumpsName is the folder to which JAX writes PTX, in the meeting place.
const dumpsName = "dumps"

// environment is the program's: this process's, with the shim in front.
func environment(o *Options, shim, top string) []string {
	env := os.Environ()
	if old := os.Getenv("LD_PRELOAD"); old != "" {
		shim += ":" + old
	}
	env = append(env, "LD_PRELOAD="+shim, "MUSTER_CAPTURE="+top)
	// Otherwise all arrays of JAX lie in one allocation, three quarters of the GPU's memory.
	settings := []string{"XLA_PYTHON_CLIENT_PREALLOCATE=false", "XLA_PYTHON_CLIENT_ALLOCATOR=platform"}
	if o.Tight {
		settings = append(settings, "PYTORCH_NO_CUDA_MEMORY_CACHING=1")
	}
	// PTX that JAX would not keep.
	dir := filepath.Join(top, dumpsName)
	if old := os.Getenv("XLA_FLAGS"); !strings.Contains(old, "xla_dump_to") {
		env = append(env, "XLA_FLAGS="+strings.TrimSpace(old+" --xla_dump_to="+dir+" --xla_dump_emitter_re=.*"))
	}
	if os.Getenv("MOSAIC_GPU_DUMP_TO") == "" && os.Mkdir(dir, 0o700) == nil {
		env = append(env, "MOSAIC_GPU_DUMP_TO="+dir)
	}
	settings = slices.DeleteFunc(settings, func(s string) bool {
		name, _, _ := strings.Cut(s, "=")
		_, given := os.LookupEnv(name)
		return given
	})
	if len(settings) > 0 {
		fmt.Fprintf(o.Log, "muster capture: set %s, and that JAX dumps PTX\n", strings.Join(settings, " "))
	}
	env = append(env, settings...)
	return env
}
