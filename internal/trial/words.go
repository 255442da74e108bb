package trial

import (
	"muster/internal/order"
	"muster/internal/outcome"
	"muster/internal/rules"
)

// Facts returns the program's facts with which a run's words are watched.
func (s *Subject) Facts(decides func(pc int32) bool) *outcome.Facts {
	return outcome.New(s.Program, s.Shape.Cluster, decides)
}

// JudgeWords returns a judge for a run, and the watcher of its words beside it.
func JudgeWords(f *outcome.Facts, c rules.Config) (*rules.Judge, *outcome.Run) {
	var words *outcome.Run
	c.Strong = func(p order.Pair) { words.Strong(p) }
	j := rules.NewJudge(c)
	words = f.NewRun(j.Order)
	return j, words
}
