// Package page is the page of `muster view`: its files, and what makes one self-contained
// HTML file of them and of a run's data.
package page

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"io"
	"strings"
)

//go:embed index.html
var index string

// Write writes the page with its data: about is JSON, blob the gzipped bytes that it points
// into. A page that is served may ask its server for more; one in a file may not.
func Write(w io.Writer, about, blob []byte, served bool) error {
	about = bytes.ReplaceAll(about, []byte("<"), []byte(`\u003c`))
	_, err := strings.NewReplacer("{{about}}", string(about), "{{blob}}", base64.StdEncoding.EncodeToString(blob)).WriteString(w, index)
	return err
}
