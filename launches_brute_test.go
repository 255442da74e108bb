package muster_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"muster"
	"muster/internal/brute/launches"
	"muster/internal/yaml"
)

var (
	launchesFrom = flag.Uint64("launches.from", 1, "the first seed of TestLaunchesBrute")
	launchesN    = flag.Int("launches.n", 300, "how many programs TestLaunchesBrute checks")
)

// TestLaunchesBrute holds what is found between launches against all states of small programs.
func TestLaunchesBrute(t *testing.T) {
	dir := t.TempDir()
	racy, left := 0, 0
	for i := range *launchesN {
		seed := *launchesFrom + uint64(i)
		p := launches.Random(rand.New(rand.NewPCG(seed, 1)))
		want, ok := launches.Races(p)
		if !ok {
			left++
			continue
		}
		text, lines := p.PTX()
		ptx := filepath.Join(dir, fmt.Sprintf("%d.ptx", seed))
		file := filepath.Join(dir, fmt.Sprintf("%d.yaml", seed))
		if err := os.WriteFile(ptx, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(p.File(filepath.Base(ptx))), 0o600); err != nil {
			t.Fatal(err)
		}
		got := racesFound(t, file, lines)
		if len(want) > 0 {
			racy++
		}
		// Of a thread's accesses to a word, the last may stand for those before it, and a
		// race hides those behind it.
		for pair := range want {
			found := slices.ContainsFunc(slices.Collect(maps.Keys(got)), func(o [2]launches.Place) bool {
				return p.Word(o[0]) == p.Word(pair[0])
			})
			if !found {
				t.Errorf("seed %d: %v race, and nothing is found\n%s%s", seed, pair, p.File("k.ptx"), text)
			}
		}
		for pair := range got {
			if pair[0][0] != pair[1][0] && !want[pair] {
				t.Errorf("seed %d: %v do not race, and a finding says so\n%s%s", seed, pair, p.File("k.ptx"), text)
			}
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d of %d programs have races; %d have too many states", racy, *launchesN, left)
	if left > *launchesN/20 {
		t.Errorf("%d of %d programs have too many states to go through", left, *launchesN)
	}
}

// racesFound returns the pairs of accesses that findings name.
func racesFound(t *testing.T, file string, lines map[int]launches.Place) map[[2]launches.Place]bool {
	t.Helper()
	f, err := yaml.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := muster.LoadSequence(f, muster.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[[2]launches.Place]bool{}
	err = s.Each(context.Background(), func(i int, l *muster.Launch) (*muster.RunResult, error) {
		r, err := l.Check(context.Background(), muster.CheckOptions{Jobs: 1})
		if err != nil {
			return nil, err
		}
		for _, x := range r.Findings {
			if len(x.Sites) != 2 || x.Sites[0].PTX == nil || x.Sites[1].PTX == nil {
				continue
			}
			a, b := lines[x.Sites[0].PTX.Line], lines[x.Sites[1].PTX.Line]
			if slices.Compare(a[:], b[:]) > 0 {
				a, b = b, a
			}
			got[[2]launches.Place{a, b}] = true
		}
		return nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}
