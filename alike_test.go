package muster_test

import (
	"path/filepath"
	"reflect"
	"testing"

	"muster"
)

// TestAlike: of clusters that count as alike, a proof says the same, the wrong ones too.
func TestAlike(t *testing.T) {
	files, err := filepath.Glob("examples/*/*.yaml")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d examples, %v", len(files), err)
	}
	alike, unlike := 0, 0
	for _, f := range files {
		l := loadYAML(t, f, nil, nil)
		if muster.Refused(l) {
			continue
		}
		each, class := muster.ProveParts(l)
		for i, c := range class {
			if c == i {
				unlike++
				continue
			}
			if alike++; !reflect.DeepEqual(each[i], each[c]) {
				t.Errorf("%s: cluster %d shows\n%v\ncluster %d\n%v", f, i, each[i], c, each[c])
			}
		}
	}
	if alike < 30 || unlike < 30 {
		t.Errorf("%d clusters are like another, %d are not", alike, unlike)
	}
}
