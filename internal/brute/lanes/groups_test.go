package lanes_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"sort"
	"strings"

	"muster"
	"muster/internal/brute/lanes"
	"muster/launch"
	"muster/ptx"
)

func loadGroup(g *lanes.Group) (*muster.Launch, error) {
	text := g.PTX()
	mod, err := ptx.Parse("g.ptx", []byte(text))
	if err != nil {
		return nil, err
	}
	x := g.Launch()
	f, err := launch.FromFlags(launch.Flags{PTX: "g.ptx", Grid: x.Grid, Block: x.Block, Cluster: x.Cluster, Buffers: x.Buffers, Args: x.Args})
	if err != nil {
		return nil, err
	}
	return muster.LoadModule(f, mod, []byte(text), muster.Limits{})
}

// A groupJudged is a program of a warpgroup with what can come out and what a check says.
type groupJudged struct {
	g       *lanes.Group
	results [lanes.Edges]lanes.GroupResult
	launch  *muster.Launch
	rep     *muster.Report
	err     error
}

func judgeGroup(g *lanes.Group) *groupJudged {
	v := &groupJudged{g: g}
	for e := range lanes.Edges {
		v.results[e] = lanes.ExploreGroup(g, e, *limit)
	}
	if v.launch, v.err = loadGroup(g); v.err == nil {
		v.rep, v.err = check(v.launch)
	}
	return v
}

// kinds lists what a check found that is more than a notice.
func (v *groupJudged) kinds() string {
	var kinds []string
	for _, f := range v.rep.Findings {
		if s := string(f.Severity) + " " + f.Kind; (f.Severity == "error" || f.Severity == "warning") && !slices.Contains(kinds, s) {
			kinds = append(kinds, s)
		}
	}
	sort.Strings(kinds)
	return strings.Join(kinds, ", ")
}

// fine reports whether nothing is wrong with a program.
func fine(r *lanes.GroupResult) bool { return r.Complete && r.Bad() == "" && !r.Phases && !r.Loose }

// disagrees names how a check and what can come out disagree, nothing if they do not.
func (v *groupJudged) disagrees() string {
	if v.err != nil {
		return "is not checked: " + v.err.Error()
	}
	letter, across, together := &v.results[lanes.Letter], &v.results[lanes.Across], &v.results[lanes.Together]
	kinds := v.kinds()
	switch e := errors(v.rep); {
	case v.rep.Verdict == "clean" && together.Bad() != "":
		return "clean, " + together.Bad()
	case v.rep.Verdict == "clean" && kinds == "" && letter.Bad() != "":
		return "no finding, by the letter " + letter.Bad()
	case v.rep.Verdict == "clean" && kinds == "" && letter.Proxy:
		return "no finding, no proxy fence before a copy"
	case proven(v.rep) && len(together.Outs) > 1:
		return "proven, more than one final memory"
	case e != "" && fine(letter):
		return "false alarm, " + e
	case e != "" && fine(across):
		return "an error for what a card orders, " + e
	case strings.Contains(kinds, "collective-order") && fine(letter):
		return "false alarm, collective-order"
	}
	return ""
}

// ran compares what a run leaves with what can come out.
func (v *groupJudged) ran(s muster.Schedule) error {
	res, err := v.launch.Run(context.Background(), muster.RunOptions{Schedule: s})
	if err != nil {
		return err
	}
	if res.Report != nil {
		return fmt.Errorf("schedule %v does not end: %s", s, res.Report.Summary)
	}
	bytes, err := res.Buffer("out")
	if err != nil {
		return err
	}
	var got [2 * lanes.GroupThreads]uint32
	for i := range got {
		got[i] = binary.LittleEndian.Uint32(bytes[4*i:])
	}
	if want := v.results[lanes.Together].Outs; !slices.Contains(want, got) {
		return fmt.Errorf("schedule %v leaves %v, which is none of %d that can come out, like %v", s, got, len(want), want[0])
	}
	return nil
}
