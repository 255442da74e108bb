// Package page is the page of a test's barriers: its files, and what makes one self-contained HTML file of them
// and of a report in JSON. Its policy (CSP) forbids it to ask for anything, and its script turns data into text
// alone.
package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"io"
	"strings"
)

//go:embed page.html page.css *.js
var files embed.FS

// scripts are the parts of the page's script, in their order. They share one scope.
var scripts = []string{"dom.js", "model.js", "say.js", "layout.js", "graph.js", "lanes.js", "tables.js", "main.js"}

// Write writes the page of a report, which is JSON.
func Write(w io.Writer, report []byte) error {
	style, err := files.ReadFile("page.css")
	if err != nil {
		return err
	}
	html, err := files.ReadFile("page.html")
	if err != nil {
		return err
	}
	script, err := join()
	if err != nil {
		return err
	}
	rest := string(html)
	for _, part := range []struct{ mark, text string }{
		{"{{policy}}", policy(style, script)},
		{"{{style}}", string(style)},
		{"{{report}}", string(bytes.ReplaceAll(report, []byte("<"), []byte(`\u003c`)))}, // nothing ends the element
		{"{{script}}", string(script)},
	} {
		before, after, ok := strings.Cut(rest, part.mark)
		if !ok {
			return fmt.Errorf("BUG: page.html has no %s where it is due", part.mark)
		}
		for _, s := range []string{before, part.text} {
			if _, err := io.WriteString(w, s); err != nil {
				return err
			}
		}
		rest = after
	}
	_, err = io.WriteString(w, rest)
	return err
}

func join() ([]byte, error) {
	out := []byte("\"use strict\";\n(() => {\n")
	for _, name := range scripts {
		b, err := files.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("BUG: a part of the script is missing: %w", err)
		}
		out = append(out, b...)
	}
	return append(out, "})();\n"...), nil
}

// policy allows the page's own style and script, by their hashes, and nothing else.
func policy(style, script []byte) string {
	hash := func(b []byte) string {
		sum := sha256.Sum256(b)
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; base-uri 'none'; form-action 'none'; style-src " + hash(style) + "; script-src " + hash(script)
}
