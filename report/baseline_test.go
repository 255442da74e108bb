package report

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestReadBaseline: the fingerprints of every document, and a line for what is none.
func TestReadBaseline(t *testing.T) {
	for text, want := range map[string]string{
		`{"findings":[{"fingerprint":"a"},{"":"fingerprint","x":["fingerprint","b"]}]}`:                "a",
		"\ufeff" + `{"stages":[{"report":{"findings":[{"fingerprint":"a"}]}}]}`:                        "a",
		`{"findings":[{"fingerprint":"a"}]}` + "\n" + `{"files":[{"r":[{"fingerprint":"b"}]}]}`:        "a b",
		`{"runs":[{"results":[{"partialFingerprints":{"muster/v1":"c"},"p":[{"fingerprint":"d"}]}]}]}`: "c d",
		`{"findings":[]}`: "",
	} {
		b, err := ReadBaseline(strings.NewReader(text), "k")
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := strings.Join(slices.Sorted(maps.Keys(b.prints)), " "); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"": "ends in the middle", `{"findings":[`: "ends in the middle", `{"findings":[]} {`: "ends in the middle",
		"[]": "no findings", "null": "no findings", `{"findings":"x"}`: "no findings", `{"x":{"findings":[]}}`: "no findings",
		`{"findings":[]} {"verdict":"error"}`: "no findings",
		"error[race]":                         "not JSON at byte", "\xff\xfe{\x00": "not JSON at byte",
		`{"findings":` + strings.Repeat("[", 1e6): "nested too deep",
	} {
		if _, err := ReadBaseline(strings.NewReader(text), "k"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: got %v, want %q", text, err, want)
		}
	}
	// White space without end: what follows it is never read.
	if _, err := ReadBaseline(blanks{}, "k"); err == nil || !strings.Contains(err.Error(), "more than 256 MiB") {
		t.Errorf("without end: %v", err)
	}
}

// Blanks are a text without end.
type blanks struct{}

func (blanks) Read(data []byte) (int, error) {
	for i := range data {
		data[i] = ' '
	}
	return len(data), nil
}
