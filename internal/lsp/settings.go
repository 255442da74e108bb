package lsp

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Settings are what a client may set: as initializationOptions, or as the section muster of
// workspace/didChangeConfiguration.
type Settings struct {
	// Launch names launch files to check besides those found beside a document.
	Launch paths `json:"launch"`
	// Check is whether checks run at all; nil for true.
	Check *bool `json:"check"`
	// Delay is how long after a change a check begins, in milliseconds.
	Delay *int `json:"delay"`
	// LimitTime and LimitMemory bound one check, as "30s" and "4G".
	LimitTime   string `json:"limitTime"`
	LimitMemory string `json:"limitMemory"`
	// FormatDropsComments lets formatting print a text that has comments, without them.
	FormatDropsComments bool `json:"formatDropsComments"`

	limit  time.Duration
	memory int64
}

// The settings' defaults. A check that takes longer belongs on a command line.
const (
	defaultDelay  = 300
	defaultTime   = "30s"
	defaultMemory = "4G"
)

// paths is one path or a list of them.
type paths []string

func (p *paths) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*p = nil
		if one != "" {
			*p = paths{one}
		}
		return nil
	}
	var list []string
	err := json.Unmarshal(data, &list)
	*p = list
	return err
}

// filled has the defaults where nothing is set.
func (s Settings) filled() Settings {
	delay := defaultDelay
	s = s.over(Settings{LimitTime: defaultTime, LimitMemory: defaultMemory, Delay: &delay})
	if err := s.parse(); err != nil {
		panic("BUG: settings of the command: " + err.Error())
	}
	return s
}

// parse reads the limits.
func (s *Settings) parse() error {
	d, err := time.ParseDuration(s.LimitTime)
	if err != nil || d < time.Millisecond {
		return fmt.Errorf("limitTime %.40q: want a time, as 30s or 2m", s.LimitTime)
	}
	number := strings.TrimRight(s.LimitMemory, "KMG")
	n, err := strconv.ParseInt(number, 10, 64)
	by, ok := map[string]int{"": 0, "K": 10, "M": 20, "G": 30}[s.LimitMemory[len(number):]]
	if err != nil || !ok || n <= 0 || n > 1<<62>>by {
		return fmt.Errorf("limitMemory %.40q: want a number of bytes, as 512M or 4G", s.LimitMemory)
	}
	if *s.Delay < 0 || *s.Delay > 60_000 {
		return fmt.Errorf("delay %d: want milliseconds, at most 60000", *s.Delay)
	}
	s.limit, s.memory = d, n<<by
	return nil
}

// checks reports whether checks run.
func (s *Settings) checks() bool { return s.Check == nil || *s.Check }

// configure takes settings. Those that do not fit change nothing, and are told. The caller
// holds the lock.
func (s *server) configure(data json.RawMessage) {
	if len(data) == 0 || string(data) == "null" {
		return
	}
	next := s.settings
	err := json.Unmarshal(data, &next)
	if err == nil {
		next = next.over(s.o.Settings.filled())
		err = next.parse()
	}
	if err != nil {
		s.log(logWarning, "muster's settings: %v", err)
		return
	}
	s.settings = next
}

// over fills what is not set from other settings.
func (s Settings) over(o Settings) Settings {
	if s.LimitTime == "" {
		s.LimitTime = o.LimitTime
	}
	if s.LimitMemory == "" {
		s.LimitMemory = o.LimitMemory
	}
	if s.Delay == nil {
		s.Delay = o.Delay
	}
	return s
}
