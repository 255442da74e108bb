package explore

import "fmt"

// Runs that are too long: they are set aside, and the others are explored.

// longShare: a search ends if more than one in so many runs is too long, since the others will be
// so, too.
const longShare = 8

// tooLong is the Why of a search with a run that was cut short.
const tooLong = "a run of more than %d steps was cut short"

// TooLong reports whether a Why says that a run was cut short.
func TooLong(why string) bool {
	var n int
	_, err := fmt.Sscanf(why, tooLong, &n)
	return err == nil
}

// allLong reports whether more than one run in longShare was too long.
func (s *Search) allLong() bool {
	return s.count.Long > (s.count.Schedules+s.count.Left)/longShare
}

// cutShort is the Why of a search that has set runs aside, empty if it has not.
func (s *Search) cutShort() string {
	if s.count.Long == 0 {
		return ""
	}
	return fmt.Sprintf(tooLong, s.limits.Length)
}

// setAside leaves a run that is too long: what is still to be tried in its later part, where it
// turns round and round, would be as long.
func (s *Search) setAside() {
	s.count.Long++
	n := 1 + len(s.nodes)/16
	s.nodes, s.steps, s.fresh = s.nodes[:n], s.steps[:n], n
}
