// Package page is the page of `muster view`: its files, and what makes one self-contained
// HTML file of them and of a run's data. Nothing of the page comes from anywhere else, and
// its policy (CSP) forbids it to ask: a page in a file makes no request at all, one that is
// served asks its own server alone.
package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"hash/crc32"
	"io"
	"regexp"
	"slices"
	"strings"
)

//go:embed index.html *.css *.js
var files embed.FS

// Write writes the page with its data: about is JSON, blob the gzipped bytes that it points
// into. A page that is served may ask its server for more; one in a file may not.
func Write(w io.Writer, about, blob []byte, served bool) error {
	script, err := bundle("main.js")
	if err != nil {
		return err
	}
	style, err := style()
	if err != nil {
		return err
	}
	html, err := files.ReadFile("index.html")
	if err != nil {
		return err
	}
	about = escape(about)
	rest := string(html)
	for _, part := range []struct {
		mark  string
		write func() error
	}{
		{"{{policy}}", func() error { return text(w, policy(style, script, served)) }},
		{"{{style}}", func() error { return text(w, string(style)) }},
		{"{{sum}}", func() error { return text(w, fmt.Sprint(crc32.ChecksumIEEE(about))) }},
		{"{{about}}", func() error { return text(w, string(about)) }},
		{"{{blob}}", func() error { return encode(w, blob) }},
		{"{{script}}", func() error { return text(w, string(script)) }},
	} {
		before, after, ok := strings.Cut(rest, part.mark)
		if !ok {
			return fmt.Errorf("BUG: index.html has no %s where it is due", part.mark)
		}
		if err := text(w, before); err != nil {
			return err
		}
		if err := part.write(); err != nil {
			return err
		}
		rest = after
	}
	return text(w, rest)
}

// style is the page's style sheet: what it shares with the playground comes first.
func style() ([]byte, error) {
	var all []byte
	for _, name := range []string{"base.css", "view.css"} {
		b, err := files.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("BUG: a style sheet is missing: %w", err)
		}
		all = append(all, b...)
	}
	return all, nil
}

// Hashes are the sources, as a Content Security Policy names them, of the page's style and
// script. A page that shows this one in a frame without an address of its own hands its
// policy down to it (CSP 3, section 7.8), and has to grant them.
func Hashes() (styles, scripts string, err error) {
	style, err := style()
	if err != nil {
		return "", "", err
	}
	script, err := bundle("main.js")
	if err != nil {
		return "", "", err
	}
	return hash(style), hash(script), nil
}

// Shared are the files that the playground is made of, too, by name.
func Shared() (map[string][]byte, error) {
	out := map[string][]byte{}
	for _, name := range []string{"base.css", "dom.js", "theme.js"} {
		b, err := files.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("BUG: a file of the page is missing: %w", err)
		}
		out[name] = b
	}
	return out, nil
}

func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

func text(w io.Writer, s string) error {
	_, err := io.WriteString(w, s)
	return err
}

func encode(w io.Writer, blob []byte) error {
	e := base64.NewEncoder(base64.StdEncoding, w)
	if _, err := e.Write(blob); err != nil {
		return err
	}
	return e.Close()
}

// escape keeps JSON from ending the element that holds it.
func escape(json []byte) []byte { return bytes.ReplaceAll(json, []byte("<"), []byte(`\u003c`)) }

// policy is the page's Content Security Policy: its own style and script by their hashes,
// and nothing else.
func policy(style, script []byte, served bool) string {
	connect := "'none'"
	if served {
		connect = "'self'"
	}
	return "default-src 'none'; base-uri 'none'; form-action 'none'; style-src " + hash(style) + "; script-src " + hash(script) + "; connect-src " + connect
}

var (
	imports = regexp.MustCompile(`(?m)^import \{([^}]*)\} from "\./([a-z]+\.js)";\n`)
	exports = regexp.MustCompile(`(?m)^export (?:async )?(?:function|class|const) (\w+)`)
)

// bundle makes one script of a module and those that it imports: each is a function that
// returns what it exports, after those that it needs. The files stay modules, as a browser
// or an editor reads them; a page that is opened from a file cannot load modules from files.
func bundle(root string) ([]byte, error) {
	var out bytes.Buffer
	out.WriteString("\"use strict\";\n")
	var done, open []string
	var add func(name string) error
	add = func(name string) error {
		if slices.Contains(done, name) {
			return nil
		}
		if slices.Contains(open, name) {
			return fmt.Errorf("BUG: %s imports itself by way of %s", name, strings.Join(open, ", "))
		}
		open = append(open, name)
		b, err := files.ReadFile(name)
		if err != nil {
			return fmt.Errorf("BUG: a module is missing: %w", err)
		}
		for _, m := range imports.FindAllSubmatch(b, -1) {
			if err := add(string(m[2])); err != nil {
				return err
			}
		}
		var names []string
		for _, m := range exports.FindAllSubmatch(b, -1) {
			names = append(names, string(m[1]))
		}
		body := imports.ReplaceAllFunc(b, func(line []byte) []byte {
			m := imports.FindSubmatch(line)
			return fmt.Appendf(nil, "const {%s} = %s;\n", m[1], variable(string(m[2])))
		})
		body = bytes.ReplaceAll(body, []byte("\nexport "), []byte("\n"))
		body = bytes.TrimPrefix(body, []byte("export "))
		fmt.Fprintf(&out, "const %s = (() => {\n%s\nreturn {%s};\n})();\n", variable(name), bytes.TrimRight(body, "\n"), strings.Join(names, ", "))
		open = open[:len(open)-1]
		done = append(done, name)
		return nil
	}
	if err := add(root); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func variable(file string) string { return "$" + strings.TrimSuffix(file, ".js") }
