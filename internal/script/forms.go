package script

import (
	"strings"

	"muster/mbarrier"
)

// A form is one command: its syntax and its effect.
type form struct {
	usage string
	token bool // may be kept by `NAME =`
	parse func(*args)
	run   func(*runner, *command) error
	// step is the transition of the word, for commands that are only that.
	step   func(mbarrier.Word, uint32) (mbarrier.Word, mbarrier.Result)
	arrive bool // makes an arrival
}

var forms = map[string]form{
	"init":                   {usage: "init BAR COUNT", parse: barCount, run: (*runner).init},
	"inval":                  {usage: "inval BAR", parse: bar, run: (*runner).inval},
	"show":                   {usage: "show BAR", parse: bar, run: (*runner).show},
	"arrive":                 {usage: "arrive BAR [COUNT]", token: true, arrive: true, parse: barMaybe, step: mbarrier.Word.Arrive},
	"arrive.noComplete":      {usage: "arrive.noComplete BAR COUNT", token: true, arrive: true, parse: barCount, step: mbarrier.Word.ArriveNoComplete},
	"arrive.expect_tx":       {usage: "arrive.expect_tx BAR BYTES", token: true, arrive: true, parse: barCount, step: mbarrier.Word.ArriveExpectTx},
	"arrive_drop":            {usage: "arrive_drop BAR [COUNT]", token: true, arrive: true, parse: barMaybe, step: mbarrier.Word.ArriveDrop},
	"arrive_drop.noComplete": {usage: "arrive_drop.noComplete BAR COUNT", token: true, arrive: true, parse: barCount, step: mbarrier.Word.ArriveDropNoComplete},
	"arrive_drop.expect_tx":  {usage: "arrive_drop.expect_tx BAR BYTES", token: true, arrive: true, parse: barCount, step: mbarrier.Word.ArriveDropExpectTx},
	"expect_tx":              {usage: "expect_tx BAR BYTES", parse: barCount, step: mbarrier.Word.ExpectTx},
	"complete_tx":            {usage: "complete_tx BAR BYTES", parse: barCount, step: mbarrier.Word.CompleteTx},
	"wait":                   {usage: "ACTOR: wait BAR parity P | TOKEN | phase N", parse: selects, run: (*runner).wait},
	"try":                    {usage: "ACTOR: try BAR parity P | TOKEN | phase N", parse: selects, run: (*runner).wait},
	"test":                   {usage: "test BAR parity P | TOKEN | phase N", parse: selects, run: (*runner).test},
	"timeout":                {usage: "timeout ACTOR", parse: target, run: (*runner).timeout},
	"pending_count":          {usage: "pending_count TOKEN", parse: target, run: (*runner).pendingCount},
	"copy":                   {usage: "copy NAME: BYTES bytes to BAR", parse: copies, run: (*runner).copy},
	"cp.async":               {usage: "cp.async NAME: arrives on BAR [noinc]", parse: cpAsyncs, run: (*runner).cpAsync},
	"land":                   {usage: "land NAME", parse: target, run: (*runner).land},
	"new":                    {usage: "new launch", parse: func(a *args) { a.literal("launch") }, run: (*runner).launch},
	"end":                    {usage: "end", parse: func(*args) {}, run: (*runner).end},
}

func bar(a *args)      { a.c.bar = a.name() }
func target(a *args)   { a.c.target = a.name() }
func barCount(a *args) { a.c.bar, a.c.n = a.name(), a.number() }

func barMaybe(a *args) {
	a.c.bar, a.c.n = a.name(), 1
	if len(a.rest) > 0 {
		a.c.n = a.number()
	}
}

// selects parses BAR and the selector of its phase.
func selects(a *args) {
	a.c.bar = a.name()
	if a.c.verb.text != "test" && a.c.actor.text == "" {
		a.fail(a.c.verb.col, "somebody has to wait: NAME: "+a.c.verb.text+" …")
	}
	switch w := a.next(); w.text {
	case "parity":
		a.c.n = a.number()
	case "phase":
		n := a.next()
		v, ok := number(n.text)
		if !ok {
			a.fail(n.col, "")
		}
		a.c.how, a.c.phase, a.c.n = byPhase, v, uint32(v&1)
	default:
		a.c.how, a.c.target = byToken, w.text
	}
}

// subject parses NAME: of a copy.
func (a *args) subject() {
	w := a.next()
	name, ok := strings.CutSuffix(w.text, ":")
	if !ok || !isName(name) {
		a.fail(w.col, "")
	}
	a.c.target = name
}

func copies(a *args) {
	a.subject()
	a.c.n = a.number()
	a.literal("bytes", "to")
	a.c.bar = a.name()
}

func cpAsyncs(a *args) {
	a.subject()
	a.literal("arrives", "on")
	a.c.bar = a.name()
	if len(a.rest) > 0 {
		a.literal("noinc")
		a.c.noinc = true
	}
}
