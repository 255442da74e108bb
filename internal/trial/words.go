package trial

import (
	"muster/internal/order"
	"muster/internal/outcome"
	"muster/internal/rules"
)

// Facts are what the words of a run are watched with.
func (s *Subject) Facts(decides func(pc int32) bool) *outcome.Facts {
	return outcome.New(s.Program, s.Shape.Cluster, decides)
}

// JudgeWords returns a judge for a run, and what watches its words beside it.
func JudgeWords(f *outcome.Facts, shape rules.Shape) (*rules.Judge, *outcome.Run) {
	var words *outcome.Run
	shape.Strong = func(p order.Pair) { words.Strong(p) }
	j := rules.NewJudge(shape)
	words = f.NewRun(j.Order)
	return j, words
}
