package conform

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// What the command writes as JSON is what docs/report.schema.json says.
func TestJSON(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "report.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	s := schema(t, text)
	for _, j := range jobs(t) {
		t.Run(j.name, func(t *testing.T) {
			data, status := muster(t, append(j.args, "--format", "json")...)
			if status != j.status {
				t.Errorf("exit status %d, want %d", status, j.status)
			}
			verdict := at(valid(t, s, data), "verdict")
			if want := [...]string{"clean", "findings", "error", "incomplete"}[status]; verdict != want {
				t.Errorf("verdict %v with exit status %s", verdict, strconv.Itoa(status))
			}
		})
	}
	for _, text := range []string{`{}`, `{"version": 1}`, `[]`, `{"version": 1, "verdict": "fine"}`} {
		if s.Validate(parsed(t, []byte(text))) == nil {
			t.Errorf("the schema takes %s", text)
		}
	}
}
