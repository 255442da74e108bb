package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoNVCC: without nvcc, one line says what to do.
func TestNoNVCC(t *testing.T) {
	if _, err := os.Stat("/usr/local/cuda/bin/nvcc"); err == nil {
		t.Skip("nvcc is here")
	}
	t.Setenv("PATH", t.TempDir())
	t.Setenv("CUDA_HOME", t.TempDir())
	t.Setenv("CUDA_PATH", "")
	t.Chdir(t.TempDir())
	if err := os.WriteFile("k.cu", nil, 0o666); err != nil {
		t.Fatal(err)
	}
	const want = "muster: k.cu: nvcc is not found: install the CUDA toolkit or set CUDA_HOME, or where it is type nvcc -ptx -lineinfo -arch=sm_90a k.cu, and name k.ptx here\n"
	for _, args := range [][]string{{"check", "k.cu"}, {"run", "k.cu"}, {"mutate", "k.cu"}} {
		status, out, err := run(t, append(args, "--grid", "1", "--block", "32")...)
		if status != exitBadInput || out != "" || err != want {
			t.Errorf("%v: status %d, %q, %q", args, status, out, err)
		}
	}
	if status, _, err := run(t, "init", "k.cu"); status != exitBadInput || err != want {
		t.Errorf("init: status %d, %q", status, err)
	}
}

// TestMangled holds what is read of a mangled name to c++filt's answers.
func TestMangled(t *testing.T) {
	for _, c := range []struct {
		name, function string
		is             bool
	}{
		{"_Z1fPf", "f", true},
		{"_Z1fPf", "Pf", false},
		{"_Z4gemmIfLi4EEvPT_", "gemm", true}, // void gemm<float, 4>(float*)
		{"_ZN2ns1fEPf", "f", true},           // ns::f(float*)
		{"_ZN2ns1fEPf", "ns", false},
		{"_ZN12_GLOBAL__N_14gemmEv", "gemm", true}, // (anonymous namespace)::gemm()
		{"_ZN7cutlass6KernelI4GemmEEvNT_6ParamsE", "Kernel", true},
		{"_ZN7cutlass6KernelI4GemmEEvNT_6ParamsE", "Params", false},
		{"_Z", "f", false},
		{"_Z9f", "f", false},
		{"_Z99999999999f", "f", false},
		{"f", "f", false},
		{"_ZN", "", false},
	} {
		if got := mangled(c.name, c.function); got != c.is {
			t.Errorf("%s as %s: %v", c.name, c.function, got)
		}
	}
}

// TestEnvironment: nvcc takes no options from the environment.
func TestEnvironment(t *testing.T) {
	got := strings.Join(nvccEnvironment([]string{"A=1", "NVCC_APPEND_FLAGS=-G", "NVCC_PREPEND_FLAGS=x=y", "NVCC_CCBIN=cc"}), " ")
	if want := "A=1 NVCC_CCBIN=cc"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestKept: PTX that nvcc made lies in the user's cache, once for each text, so that an error's
// place can be looked up.
func TestKept(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
	t.Setenv("HOME", dir)
	t.Setenv("TMPDIR", t.TempDir())
	in := defaultInput()
	w, err := (&console{}).begin(in)
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	first, err := in.keep("a folder/-k-.cu", []byte("some PTX"))
	if err != nil {
		t.Fatal(err)
	}
	again, err := in.keep("other/-k-.cu", []byte("some PTX"))
	if err != nil || again != first {
		t.Errorf("%s, then %s, %v", first, again, err)
	}
	other, err := in.keep("other/-k-.cu", []byte("other PTX"))
	if err != nil || other == first {
		t.Errorf("%s, then %s, %v", first, other, err)
	}
	data, err := os.ReadFile(first)
	if err != nil || string(data) != "some PTX" || filepath.Base(first) != "-k-.ptx" {
		t.Errorf("%s holds %q, %v", first, data, err)
	}
}
