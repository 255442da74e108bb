package launch

import (
	"slices"
	"strings"
)

// ParseArgFlag reads name, name+offset, type:value, bytes:path, null or JSON.
func ParseArgFlag(text string) (Arg, error) {
	d := flagDecoder("--arg", text)
	n, err := d.flagArg(text)
	if err != nil {
		return Arg{}, err
	}
	return d.topArg(n)
}

func (d *decoder) flagArg(text string) (*Node, error) {
	if strings.HasPrefix(text, "{") {
		return d.json(text)
	}
	if text == "null" {
		return d.node(NullNode, ""), nil
	}
	n := d.node(MapNode, "")
	if typ, value, ok := strings.Cut(text, ":"); ok {
		known := append(typeNames(), "ptr", "bytes")
		if !slices.Contains(known, typ) {
			return nil, d.flagError("unknown type %s%s", quote(typ), unknownType(typ, known))
		}
		v := d.number(value)
		if typ == "bytes" {
			v = d.node(StringNode, value)
		}
		d.add(n, typ, v)
		return n, nil
	}
	name, offset, ok := strings.Cut(text, "+")
	if !ValidName(name) {
		return nil, d.flagError("%s", noArg(text))
	}
	d.add(n, "ptr", d.node(StringNode, name))
	if ok {
		d.add(n, "offset", d.whole(offset))
	}
	return n, nil
}

// noArg says what is wrong with an argument that is none.
func noArg(text string) string {
	const forms = "want a buffer's name, name+offset, type:value or null, as s32:64"
	typ, value, isPair := strings.Cut(text, "=")
	switch name := strings.TrimLeft(text, "&*"); {
	case text == "":
		return "it is empty; " + forms
	case isPair && value != "" && ValidName(typ) && likelyType(typ, typeNames()) != "":
		return "a colon stands between type and value: " + likelyType(typ, typeNames()) + ":" + value
	case isPair && value != "" && strings.Trim(value, "+-.eE0123456789") == "":
		return "arguments have no names, but types, in the order of the parameters: s32:" + value
	case name != text && ValidName(name):
		return "a buffer's name alone is its address: " + name
	case strings.Trim(text, "+-0123456789") == "":
		return "a number needs its type, as s32:" + text
	case isSpecial(text) || strings.Trim(text, "+-.eE0123456789") == "":
		return "a number needs its type, as f32:" + text
	}
	return forms
}
