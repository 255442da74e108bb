package playground

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"unicode/utf8"
)

// Kernels is what the page offers: this project's own examples, in groups.
type Kernels struct {
	Version int     `json:"version"`
	Groups  []Group `json:"groups"`
}

// A Group is a list of examples of one kind.
type Group struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Text  string `json:"text"`
	Items []Item `json:"items"`
}

// An Item is an example: files, and the command that takes them.
type Item struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Text  string `json:"text"`
	Wrong bool   `json:"wrong"`
	// Kind is the finding that is due, or empty; Severity is "error", "warning" or "note" then.
	Kind     string `json:"kind"`
	Severity string `json:"severity,omitempty"`
	// Expect is the verdict of the check, "clean" or "findings"; of a script, that it runs as
	// it says: "as expected".
	Expect string `json:"expect"`
	// Launch is the file that the command takes.
	Launch string          `json:"launch"`
	Files  map[string]File `json:"files"`
	// Args is the command line without the program's name.
	Args []string `json:"args"`
}

// A File is a text, or bytes in base64.
type File []byte

// MarshalJSON writes a text as a string, other bytes as {"base64": "…"}.
func (f File) MarshalJSON() ([]byte, error) {
	if isText(f) {
		return json.Marshal(string(f))
	}
	return json.Marshal(map[string]string{"base64": base64.StdEncoding.EncodeToString(f)})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (f *File) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*f = File(text)
		return nil
	}
	var coded struct{ Base64 []byte }
	if err := json.Unmarshal(data, &coded); err != nil {
		return err
	}
	*f = coded.Base64
	return nil
}

func isText(data []byte) bool { return utf8.Valid(data) && !bytes.ContainsRune(data, 0) }

// Gather makes the kernels of the examples of the repository whose root is given.
func Gather(root string) (*Kernels, error) {
	k := &Kernels{Version: 1}
	for _, group := range []func(string) (Group, error){tour, catalogue, examples} {
		g, err := group(root)
		if err != nil {
			return nil, err
		}
		k.Groups = append(k.Groups, g)
	}
	return k, nil
}
