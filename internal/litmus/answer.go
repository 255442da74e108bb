package litmus

// holds evaluates the test's question for the outcomes of one engine. sure is false where the
// outcomes are not all, and others could change the answer.
func (t *Test) holds(o *Outcomes) (holds, sure bool) {
	some, all := false, true
	for i := range o.List {
		if t.Cond.Holds(o.List[i].Values) {
			some = true
		} else {
			all = false
		}
	}
	switch t.Quant {
	case Exists:
		return some, some || o.Complete
	case NotExists:
		return !some, some || o.Complete
	}
	return all, !all || o.Complete
}
