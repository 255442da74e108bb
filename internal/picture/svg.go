package picture

import (
	"fmt"
	"html"
	"io"
	"strings"
	"unicode/utf8"

	"muster/internal/diag"
)

// style has the colours by role, those of the page of muster view. Each state has a shape of its
// own too: what fills is hatched, and what is in error has a number.
const style = `
svg{--ground:#ffffff;--ink:#1b1f26;--quiet:#5a6372;--line:#dde1e7;--finding:#c01c28;--pale:#fdeeee;--fill:#b9731a;--full:#8fbdf0;--read:#1f5fae;--wait:#c9ced6;--even:#12707a;--odd:#3d4f9f;--onfill:#ffffff}
@media (prefers-color-scheme:dark){svg{--ground:#15181d;--ink:#e6e9ee;--quiet:#a0a9b6;--line:#343b45;--finding:#ff8585;--pale:#33181b;--fill:#e0a24a;--full:#3f6ea6;--read:#8cc0ff;--wait:#3b424d;--even:#4fb7c2;--odd:#93a4f0;--onfill:#101317}}
text{font:12px system-ui,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;fill:var(--ink)}
.h{font-weight:600}.l{font-size:14px}.q{fill:var(--quiet)}.e{text-anchor:end}.m{text-anchor:middle}.c{font-family:ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace}.bad{fill:var(--finding)}.on{fill:var(--onfill)}
.ground{fill:var(--ground);stroke:var(--line)}.rule{stroke:var(--line);fill:none}.axis{stroke:var(--quiet);fill:none}.dot{fill:var(--ink)}.under{fill:var(--ground)}
.full{fill:var(--full)}.read,.step{fill:var(--read)}.fill{fill:url(#hatch);stroke:none}.wait{fill:var(--wait)}.hatch{stroke:var(--fill);stroke-width:2.6}
.even{fill:var(--even)}.odd{fill:var(--odd)}.flight{fill:var(--fill)}.edge{stroke:var(--finding);stroke-dasharray:5 4;fill:none;stroke-width:1.6}.early{fill:var(--finding)}.box{fill:var(--pale);stroke:var(--finding)}.life{stroke:var(--quiet);fill:none}
`

const hatch = `<pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="under" width="5" height="5"/><path class="hatch" d="M1.3 0v5"/></pattern>`

// A drawing is an SVG that is being drawn.
type drawing struct {
	b             strings.Builder
	width, height int
	title, desc   string
}

// escape makes a text of a kernel or a file one of XML: one line, without markup and without
// characters that XML has not.
func escape(text string) string {
	return html.EscapeString(diag.Printable(strings.ToValidUTF8(text, "?")))
}

// WriteTo writes the picture.
func (d *drawing) WriteTo(w io.Writer) (int64, error) {
	n, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-labelledby="title desc"><title id="title">%s</title><desc id="desc">%s</desc><style>%s</style><defs>%s</defs>
<rect class="ground" x=".5" y=".5" width="%d" height="%d" rx="6"/>
%s</svg>
`, d.width, d.height, d.width, d.height, escape(d.title), escape(d.desc), style, hatch, d.width-1, d.height-1, d.b.String())
	return int64(n), err
}

func (d *drawing) add(format string, args ...any) { fmt.Fprintf(&d.b, format+"\n", args...) }

// text writes a text; class has its look.
func (d *drawing) text(class string, x, y int, text string) {
	d.add(`<text class="%s" x="%d" y="%d">%s</text>`, class, x, y, escape(text))
}

func (d *drawing) rect(class string, x, y, width, height int) {
	d.add(`<rect class="%s" x="%d" y="%d" width="%d" height="%d"/>`, class, x, y, width, height)
}

func (d *drawing) path(class, path string) {
	if path != "" {
		d.add(`<path class="%s" d="%s"/>`, class, path)
	}
}

// clip cuts a text to about a width in pixels.
func clip(text string, width int) string {
	text, _ = diag.Clip(diag.Printable(text), 0, max(4, width*10/63))
	return text
}

// clipMiddle is clip that keeps the end too: names of one row's kind differ in their indices.
func clipMiddle(text string, width int) string {
	all := []rune(diag.Printable(text))
	most := max(9, width*10/75)
	if len(all) <= most {
		return string(all)
	}
	return string(all[:most-7]) + "…" + string(all[len(all)-6:])
}

// wide is about how many pixels a text takes.
func wide(text string) int { return utf8.RuneCountInString(text) * 63 / 10 }
