package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"muster"
	"muster/internal/answer"
	"muster/internal/diag"
	"muster/internal/files"
	"muster/report"
)

// A scheduleFile holds one schedule with its launch and finding, so that the finding
// can be kept, sent and replayed:
//
//	# muster schedule 1
//	# race-shared: warp 1 reads what warp 0 writes
//	launch: ring.yaml --block 160
//	finding: race-shared@ring.ptx:118,131
//	schedule: s0,r0.0.0*12,r0.1.0/latest
//
// The words of launch are quoted as for a shell; paths are relative to where the file is
// replayed.
type scheduleFile struct {
	launch   []string
	finding  string
	schedule string
}

const (
	scheduleHeader  = "# muster schedule 1"
	maxScheduleFile = 64 << 20 // bytes
)

// readSchedule reads what --schedule names: a schedule, or @FILE.
func readSchedule(text string) (scheduleFile, error) {
	name, isFile := strings.CutPrefix(text, "@")
	if !isFile {
		return scheduleFile{schedule: text}, nil
	}
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err != nil {
		return scheduleFile{}, fmt.Errorf("%s: %w", name, files.Cause(err))
	}
	f, err := os.Open(name)
	if err != nil {
		return scheduleFile{}, err
	}
	defer f.Close()
	return parseScheduleFile(name, f)
}

func parseScheduleFile(name string, r io.Reader) (sf scheduleFile, err error) {
	in := bufio.NewScanner(io.LimitReader(r, maxScheduleFile))
	in.Buffer(nil, maxScheduleFile)
	for n := 1; in.Scan(); n++ {
		text := strings.TrimSpace(in.Text())
		if n == 1 && text != scheduleHeader {
			return sf, fmt.Errorf("%s:1:1: not a schedule: the first line of one is %q", name, scheduleHeader)
		}
		if text == "" || text[0] == '#' {
			continue
		}
		key, value, ok := strings.Cut(text, ":")
		value = strings.TrimSpace(value)
		switch {
		case !ok || value == "":
			err = errors.New("want a key, a colon and a value")
		case key == "launch":
			sf.launch, err = shellWords(value)
		case key == "finding":
			sf.finding = value
		case key == "schedule":
			sf.schedule = value
		default:
			err = fmt.Errorf("unknown key %q; there are launch, finding and schedule", brief(key))
		}
		if err != nil {
			return sf, fmt.Errorf("%s:%d:1: %w", name, n, err)
		}
	}
	if err := in.Err(); errors.Is(err, bufio.ErrTooLong) {
		return sf, fmt.Errorf("%s: a line of more than %d bytes", name, maxScheduleFile)
	} else if err != nil {
		return sf, fmt.Errorf("%s: %w", name, err)
	}
	if sf.schedule == "" {
		return sf, fmt.Errorf("%s: no schedule in it", name)
	}
	return sf, nil
}

func brief(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}

// shellWords splits words quoted by report.Quote.
func shellWords(text string) (list []string, err error) {
	word, inWord := "", false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == ' ' || c == '\t':
			if inWord {
				list = append(list, word)
			}
			word, inWord = "", false
		case strings.HasPrefix(text[i:], "$'"):
			part, n, err := escaped(text[i+2:])
			if err != nil {
				return nil, err
			}
			word, inWord = word+part, true
			i += n + 1
		case c == '\'':
			end := strings.IndexByte(text[i+1:], '\'')
			if end < 0 {
				return nil, errors.New("a quote is not closed")
			}
			word, inWord = word+text[i+1:][:end], true
			i += end + 1
		case c == '\\':
			if i++; i == len(text) {
				return nil, errors.New("a backslash at the end")
			}
			word, inWord = word+text[i:i+1], true
		default:
			word, inWord = word+text[i:i+1], true
		}
	}
	if inWord {
		list = append(list, word)
	}
	return list, nil
}

// escaped reads what follows $' in a word of report.Quote, up to and with the quote that closes
// it: n bytes.
func escaped(text string) (word string, n int, err error) {
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\'':
			return word, i + 1, nil
		case text[i] != '\\':
			word += text[i : i+1]
		case i+3 < len(text) && text[i+1] >= '0' && text[i+1] <= '7':
			c, err := strconv.ParseUint(text[i+1:i+4], 8, 8)
			if err != nil {
				return "", 0, errors.New("three octal digits of a byte are due after a backslash")
			}
			word += string([]byte{byte(c)})
			i += 3
		case i+1 < len(text) && (text[i+1] == '\'' || text[i+1] == '\\'):
			i++
			word += text[i : i+1]
		default:
			return "", 0, fmt.Errorf("the escape %q is not known", text[i:min(i+2, len(text))])
		}
	}
	return "", 0, errors.New("a quote is not closed")
}

// takeLaunch takes the launch from the file if the command line names none.
func (sf *scheduleFile) takeLaunch(in *input, args []string) ([]string, error) {
	if len(args) > 0 || in.flags.PTX != "" || len(sf.launch) == 0 {
		return args, nil
	}
	fs := pflag.NewFlagSet("launch", pflag.ContinueOnError)
	fs.Usage = func() {}
	from := &input{}
	from.register(fs)
	if err := fs.Parse(sf.launch); err != nil {
		return nil, fmt.Errorf("the launch of the schedule file: %w", err)
	}
	if fs.NArg() > 1 {
		return nil, fmt.Errorf("the launch of the schedule file names %d files", fs.NArg())
	}
	limits, local, memory := in.limits, in.local, in.memory
	*in = *from
	in.limits, in.local, in.memory = limits, local, memory
	in.given = sf.launch
	return fs.Args(), nil
}

// write writes the file.
func (sf *scheduleFile) write(name, headline string) error {
	var b strings.Builder
	fmt.Fprintln(&b, scheduleHeader)
	if headline != "" {
		fmt.Fprintln(&b, "# "+strings.Join(strings.Fields(headline), " "))
	}
	if len(sf.launch) > 0 {
		fmt.Fprintln(&b, "launch: "+strings.Join(sf.launch, " "))
	}
	if sf.finding != "" {
		fmt.Fprintln(&b, "finding: "+sf.finding)
	}
	fmt.Fprintln(&b, "schedule: "+sf.schedule)
	return files.WriteBytes(name, []byte(b.String()))
}

// checkFolder refuses, before the work, what is there and no folder.
func checkFolder(flag, dir string) error {
	info, err := os.Stat(dir)
	switch {
	case dir == "" || errors.Is(err, fs.ErrNotExist):
		return nil // or it is made
	case err != nil:
		return fmt.Errorf("%s %s: %w", flag, dir, files.Cause(err))
	case !info.IsDir():
		return fmt.Errorf("%s %s: there is a file of that name, not a folder", flag, dir)
	}
	return nil
}

// writeSchedules shrinks the schedule of each finding of a report, and writes
// it to a file of its own in dir.
func (c *console) writeSchedules(ctx context.Context, dir string, l *muster.Launch, r *muster.Report) error {
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return &files.WriteError{Name: dir, Err: files.Cause(err)}
	}
	used := map[string]int{}
	written := 0
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Schedule == "" {
			continue // of the launch itself
		}
		s, err := muster.ParseSchedule(f.Schedule)
		if err != nil {
			return err
		}
		sf := scheduleFile{launch: []string{r.Launch.Arguments}, finding: f.ID, schedule: f.Schedule}
		got, err := l.Shrink(ctx, s, f.ID, muster.ShrinkOptions{})
		switch {
		case err == nil:
			sf.schedule = got.Schedule.String()
		case !answer.AsItIs(err):
			return err
		}
		name := fileName(f.ID)
		if used[name]++; used[name] > 1 {
			name += fmt.Sprintf("-%d", used[name])
		}
		if err := sf.write(filepath.Join(dir, name+".schedule"), f.Kind+": "+f.Headline); err != nil {
			return err
		}
		written++
	}
	fmt.Fprintf(beside{c}, "muster: %s in %s\n", diag.Plural(written, "schedule"), dir)
	return nil
}

// maxScheduleLine is the longest schedule that a replay line has, in characters.
const maxScheduleLine = 200

// keepSchedules writes each schedule that is too long for a replay line to a file in the
// user's cache, and names the file in the line. Where no file can be written, the line
// stays as it is.
func keepSchedules(r *muster.Report) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return
	}
	dir = filepath.Join(dir, "muster", "schedules")
	for i := range r.Findings {
		f := &r.Findings[i]
		if len(f.Schedule) <= maxScheduleLine || !strings.Contains(f.Replay, report.Quote(f.Schedule)) {
			continue
		}
		if os.MkdirAll(dir, 0o700) != nil {
			return
		}
		sf := scheduleFile{launch: []string{r.Launch.Arguments}, finding: f.ID, schedule: f.Schedule}
		sum := sha256.Sum256([]byte(r.Launch.Arguments + "\n" + f.ID + "\n" + f.Schedule))
		name := filepath.Join(dir, fmt.Sprintf("%s-%x.schedule", fileName(f.Kind), sum[:6]))
		if sf.write(name, f.Kind+": "+f.Headline) == nil {
			f.Replay = strings.Replace(f.Replay, report.Quote(f.Schedule), report.Quote("@"+name), 1)
		}
	}
}

// fileName turns a finding's ID into a file name.
func fileName(id string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._@-", r) {
			return r
		}
		return '-'
	}, id)
}
