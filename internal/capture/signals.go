package capture

import (
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// heard are the signals that end a program, and that are passed on to it; not those that this
// process was told to ignore, as by nohup.
func heard() (list []os.Signal) {
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			list = append(list, s)
		}
	}
	return list
}

// typed reports whether a signal is one that a terminal sends for a key: it sends it to all that
// runs in its foreground, so that the program has it.
func typed(s os.Signal) bool {
	if s != syscall.SIGINT && s != syscall.SIGQUIT {
		return false
	}
	stat, _ := os.ReadFile("/proc/self/stat")
	group, front := groups(string(stat))
	return group != "" && group == front
}

// groups returns the group of a process, and the group in the foreground of its terminal, -1
// without one, as /proc has them.
func groups(stat string) (group, front string) {
	const pgrp, tpgid = 2, 5
	f := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(f) <= tpgid {
		return "", ""
	}
	return f[pgrp], f[tpgid]
}
