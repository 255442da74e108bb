//go:build !js

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"muster"
	"muster/internal/capture"
	"muster/launch"
)

func captureCommand(c *console) *cobra.Command {
	o := &capture.Options{Log: c.err, MaxBytes: 1 << 30, PerKernel: 64, Decides: contentsDecide}
	var launches string
	contents := contentsFlag("needed")
	var dry bool
	var as string
	cmd := &cobra.Command{
		Use:   "capture [flags] -- COMMAND [ARGUMENT …]",
		Short: "Run a program on the GPU and keep its launches as launch files",
		Long: `Capture runs a program, on a machine with the GPU, and makes a folder for each
launch of a kernel: launch.yaml, the PTX, the parameters, and the contents of the
buffers that decide something. 'muster check' and 'muster run' read such a folder on
any computer.

Launches of one kernel with the same grid and parameters are kept once, and up to
64 of one kernel; --launch names those that are wanted, counted from 0 among the
launches of the kernels that --kernel names.

A folder holds data of the program, so that only its user can read it; nothing
leaves the machine. The exit status is that of the program. Needed: a C compiler,
and kernels with PTX, as nvcc makes by

  nvcc -lineinfo -gencode arch=compute_90a,code=[sm_90a,compute_90a] …

Triton, torch.compile and NVRTC keep PTX by themselves.`,
		Example: "  muster capture -- python train.py\n  muster capture --kernel 'gemm.*' --contents all -o gemm -- ./48_hopper_gemm",
		Args:    atLeast(1, "a command to run, behind --"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkPattern(o.Kernel); err != nil {
				return fmt.Errorf("--kernel: %w", err)
			}
			if o.Wait < 0 {
				return fmt.Errorf("--wait %v: a time from 0 on", o.Wait)
			}
			var err error
			if o.Launches, err = ranges(launches); err != nil {
				return err
			}
			switch {
			case dry && as == "":
				return errors.New("--dry needs --as, the card that the program is told of")
			case !dry && as != "":
				return errors.New("--as goes with --dry")
			case dry:
				if o.As, err = capture.ParseCard(as); err != nil {
					return fmt.Errorf("--as: %w", err)
				}
			}
			o.Contents = capture.Contents(indexOf(contentNames, string(contents)))
			status, err := capture.Run(context.Background(), o, args, c.in, c.programOut(), c.programErr())
			if err != nil || status == 0 {
				return err
			}
			return exit(status)
		},
	}
	f := cmd.Flags()
	f.SetInterspersed(false)
	f.StringVarP(&o.Dir, "output", "o", "muster-capture", "the folder to make")
	f.StringVar(&o.Kernel, "kernel", "", "only kernels whose name, as the PTX has it, matches a `regexp` (POSIX, extended)")
	f.StringVar(&launches, "launch", "", "only these launches, as `3,7-9,20-`")
	f.Var((*sizeFlag)(&o.MaxBytes), "max-bytes", "the most contents of one launch; larger buffers keep their shape alone")
	f.Var(&contents, "contents", "which contents of buffers to keep: those that decide something, all (to run the launch), or none")
	f.DurationVar(&o.Wait, "wait", 10*time.Second, "how long to wait for a launch to end")
	f.StringArrayVar(&o.PTX, "ptx", nil, "a `folder` where PTX is looked for by a kernel's name, where the program loads machine code")
	f.BoolVar(&dry, "dry", false, "launch nothing, and tell the program of the card that --as names: its kernels are captured with what the host copied")
	f.StringVar(&as, "as", "", "the `card` of a dry capture: "+strings.Join(capture.Cards(), ", "))
	f.BoolVar(&o.Tight, "tight", false, "let PyTorch allocate each tensor by itself, so that bounds are exact")
	return cmd
}

// programOut is where a program that runs below this one writes to: the output itself.
func (c *console) programOut() io.Writer { return itself(c.out) }

// programErr is its standard error.
func (c *console) programErr() io.Writer { return itself(c.err) }

var contentNames = []string{"needed", "all", "none"}

func indexOf(list []string, s string) int {
	for i, x := range list {
		if x == s {
			return i
		}
	}
	return -1
}

// A contentsFlag is a word.
type contentsFlag string

func (f *contentsFlag) Type() string   { return strings.Join(contentNames, "|") }
func (f *contentsFlag) String() string { return string(*f) }

func (f *contentsFlag) Set(text string) error {
	if indexOf(contentNames, text) < 0 {
		return fmt.Errorf("want one of %s", strings.Join(contentNames, ", "))
	}
	*f = contentsFlag(text)
	return nil
}

// maxRanges is how many ranges of launches fit.
const maxRanges = 64

// ranges reads a list of numbers and of ranges, of which the last may be open.
func ranges(text string) (list [][2]uint64, err error) {
	if text == "" {
		return nil, nil
	}
	for _, part := range strings.Split(text, ",") {
		from, to, isRange := strings.Cut(part, "-")
		lo, err := strconv.ParseUint(from, 10, 64)
		hi := lo
		if err == nil && isRange {
			hi = math.MaxUint64
			if to != "" {
				hi, err = strconv.ParseUint(to, 10, 64)
			}
		}
		if err != nil || lo > hi {
			return nil, fmt.Errorf("--launch: %q is no launch and no range; write 3,7-9,20-", part)
		}
		list = append(list, [2]uint64{lo, hi})
	}
	if len(list) > maxRanges {
		return nil, fmt.Errorf("--launch: %d ranges; at most %d", len(list), maxRanges)
	}
	return list, nil
}

// contentsDecide reports whether what a launch's buffers hold can decide something.
func contentsDecide(f *launch.File) (bool, error) {
	s, err := muster.LoadSequence(f, muster.Limits{})
	if err != nil {
		return false, err
	}
	return s.ContentsDecide()
}

// maxPattern bounds the regular expression of kernels' names.
const maxPattern = 2000

// checkPattern refuses what is no extended regular expression of POSIX, by which the part of
// the capture that is preloaded chooses kernels.
func checkPattern(s string) error {
	switch {
	case len(s) > maxPattern:
		return fmt.Errorf("a regular expression of %d bytes; at most %d", len(s), maxPattern)
	case strings.ContainsAny(s, "\n\x00"):
		return errors.New("a regular expression of one line")
	}
	if at := notPOSIX.FindString(s); at != "" {
		return fmt.Errorf("%s is not in POSIX's regular expressions", at)
	}
	_, err := regexp.CompilePOSIX(s)
	var bad *syntax.Error
	if errors.As(err, &bad) {
		return fmt.Errorf("no regular expression: %s: %s", bad.Code, bad.Expr)
	}
	return err
}

var notPOSIX = regexp.MustCompile(`\\[0-9A-Za-z]|\[:word:\]`)
