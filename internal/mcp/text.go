package mcp

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"muster"
	"muster/internal/diag"
	"muster/report"
)

// maxData bounds the data of an answer, in bytes: some clients hand it to the model as it is.
const maxData = 32 << 10

// longSchedule is the longest schedule that an answer has, in bytes: a longer one gets a name.
const longSchedule = 120

// name gives the schedules of a report that are too long names, and says how a finding is seen
// again.
func (w *work) name(r *muster.Report) {
	for i := range r.Schedules {
		r.Schedules[i] = w.brief(r.Schedules[i])
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		f.Schedule = w.brief(f.Schedule)
		switch {
		case strings.HasPrefix(f.Kind, "redundant-"):
			f.Replay = "the tool cost says so again"
		case f.Schedule == "":
			f.Replay = fmt.Sprintf("the tool replay with finding %q", f.ID)
		default:
			f.Replay = fmt.Sprintf("the tool replay with finding %q, schedule %q", f.ID, f.Schedule)
		}
	}
}

// brief names a schedule if it is long.
func (w *work) brief(text string) string {
	if len(text) <= longSchedule {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	name := fmt.Sprintf("@%x", sum[:6])
	if w.schedules == nil {
		w.schedules = map[string]string{}
	}
	w.schedules[name] = text
	return name
}

// verdict is the first line of an answer.
func verdict(v muster.Verdict, summary string) string {
	if strings.HasPrefix(summary, string(v)) {
		return summary + "\n"
	}
	return fmt.Sprintf("%s: %s\n", v, summary)
}

// tried is how many causes a text has at most if it is cut.
const tried = 20

// reportText is a report with its verdict first, in so many characters: all causes in full if
// they fit, else as many as do, behind an index of them.
func reportText(r *muster.Report, chars int) string {
	head := verdict(r.Verdict, r.Summary)
	room := chars - len(head) - noteRoom
	write := func(o report.TextOptions) string {
		var b strings.Builder
		r.WriteText(&b, o)
		return strings.TrimSuffix(b.String(), r.Summary+"\n")
	}
	if all := write(report.TextOptions{}); len(all) <= room {
		return join(head, all)
	}
	if short := write(report.TextOptions{Short: true}); len(short) <= room {
		return join(head, short) + fmt.Sprintf("\ncut to %d characters: %s. finding with the ID or kind of one shows it in full; chars allows more.\n", chars, leftOut)
	}
	best, n := "", 0
	for k := 1; k <= tried; k++ {
		text := write(report.TextOptions{First: k, Short: true})
		if len(text) > room || text == best {
			break
		}
		best, n = text, k
	}
	if n > 0 {
		return join(head, best) + fmt.Sprintf("\ncut to %d characters: %s are below the index, the rest in it alone; %s. finding with the ID or kind of one shows it in full; chars allows more.\n", chars, diag.Plural(n, "cause"), leftOut) + others(r, best)
	}
	brief := write(report.TextOptions{Brief: true})
	if len(brief) <= room {
		return join(head, brief) + fmt.Sprintf("\ncut to %d characters: an index alone. finding with the ID or kind of one shows it; chars allows more.\n", chars) + others(r, brief)
	}
	return cut(join(head, brief), chars)
}

// leftOut is what is said of findings that are written short.
const leftOut = "who waits, notes and ledgers are left out"

// others lists findings that a text has not in full, the first of them.
func others(r *muster.Report, text string) string {
	const few, room = 6, 300
	list, n := "", 0
	for i := range r.Findings {
		if id := r.Findings[i].ID; !strings.Contains(text, strconv.Quote(id)) && n < few && len(list)+len(id) < room {
			list += "  " + id + "\n"
			n++
		}
	}
	if list == "" {
		return ""
	}
	return "some of the others:\n" + list
}

func join(head, rest string) string {
	if rest == "" {
		return head
	}
	return head + "\n" + rest
}

// noteRoom is kept free for what is said of a cut.
const noteRoom = 600

// cut cuts a text at a line, and says so.
func cut(text string, chars int) string {
	if len(text) <= chars {
		return text
	}
	whole := len(text)
	text = text[:chars-100]
	for !utf8.ValidString(text) && len(text) > 0 && !utf8.RuneStart(text[len(text)-1]) {
		text = text[:len(text)-1]
	}
	if i := strings.LastIndexByte(text, '\n'); i > chars/2 {
		text = text[:i+1]
	}
	return strings.ToValidUTF8(text, "") + fmt.Sprintf("\ncut to %d of %d characters; chars allows more, up to %d.\n", len(text), whole, mostChars)
}

// cutMiddle cuts the middle out of a text whose end counts as much as its beginning, as that of
// a story does.
func cutMiddle(text string, chars int) string {
	if len(text) <= chars {
		return text
	}
	half := (chars - 100) / 2
	head, tail := text[:half], text[len(text)-half:]
	head = head[:strings.LastIndexByte(head, '\n')+1]
	tail = tail[strings.IndexByte(tail, '\n')+1:]
	n := strings.Count(text, "\n") - strings.Count(head, "\n") - strings.Count(tail, "\n")
	return head + fmt.Sprintf("\n… %s left out; chars allows more, up to %d …\n\n", diag.Plural(n, "line"), mostChars) + tail
}

// firstLine is the first line of a text.
func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// bounded is a report as data. What would be too much is left out, and a notice says so.
func bounded(r *muster.Report) *muster.Report {
	c := *r.Filled()
	if size(&c) <= maxData {
		return &c
	}
	c.Schedules, c.Gaps, c.Notices = most(c.Schedules, 32), most(c.Gaps, 16), most(c.Notices, 16)
	if c.Proof != nil {
		p := *c.Proof
		p.Reasons, c.Proof = most(p.Reasons, 16), &p
	}
	c.Findings = slices.Clone(c.Findings)
	for i := range c.Findings {
		f := &c.Findings[i]
		f.Waiting, f.Notes, f.Ledger = most(f.Waiting, 8), most(f.Notes, 16), most(f.Ledger, 16)
	}
	all := c.Findings
	c.Findings = nil
	c.Notices = append(slices.Clip(c.Notices), "")
	room := maxData - size(&c) - noteRoom
	for i := range all {
		if room -= size(&all[i]) + 1; room < 0 {
			break
		}
		c.Findings = all[:i+1]
	}
	if len(c.Findings) < len(all) || c.Findings == nil {
		c.Notices[len(c.Notices)-1] = fmt.Sprintf("this data has %d of %d findings, and of long lists the beginning; finding with an ID gives one", len(c.Findings), len(all))
	} else {
		c.Notices[len(c.Notices)-1] = "of long lists this data has the beginning"
	}
	return c.Filled()
}

func most[T any](list []T, n int) []T { return list[:min(n, len(list))] }

func size(v any) int { return len(data(v)) }

// data is a value as JSON.
func data(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("BUG: " + err.Error())
	}
	return json.RawMessage(names.Replace(strings.TrimSuffix(b.String(), "\n")))
}

// failed is an error as data, in place of a report.
func failed(err error) json.RawMessage {
	return data(&report.Failed{Version: report.Version, Verdict: report.Error, Error: report.Failure{Text: err.Error()}})
}

// incomplete is what is said where there is no report since a limit ran out.
func incomplete(why string) json.RawMessage {
	return data(&report.Failed{Version: report.Version, Verdict: report.Incomplete, Error: report.Failure{Text: why}})
}
