package ptx

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// parseInt parses an integer literal (ISA 4.5.1). A literal is signed unless it has the
// suffix U or does not fit.
func parseInt(text string) (Int, error) {
	digits, unsigned := text, false
	if n := len(text) - 1; text[n] == 'U' {
		digits, unsigned = text[:n], true
	}
	base := 10
	if len(digits) > 1 && digits[0] == '0' {
		switch digits[1] {
		case 'x', 'X':
			base, digits = 16, digits[2:]
		case 'b', 'B':
			base, digits = 2, digits[2:]
		default:
			base, digits = 8, digits[1:]
		}
	}
	v, err := strconv.ParseUint(digits, base, 64)
	if errors.Is(err, strconv.ErrRange) {
		return Int{}, errors.New("integer " + clip(text) + " does not fit 64 bits")
	}
	if err != nil {
		return Int{}, errors.New("malformed integer " + clip(text))
	}
	return Int{Bits: v, Unsigned: unsigned || v > math.MaxInt64}, nil
}

// parseFloat parses a floating-point literal (ISA 4.5.2).
func parseFloat(text string) (Float, error) {
	if len(text) > 1 && text[0] == '0' {
		size := map[byte]int{'f': 32, 'F': 32, 'd': 64, 'D': 64}[text[1]]
		if size != 0 {
			v, err := strconv.ParseUint(text[2:], 16, size)
			if err != nil || len(text) != 2+size/4 {
				return Float{}, errors.New("malformed float " + clip(text) + ": 0" + text[1:2] + " takes " + strconv.Itoa(size/4) + " hexadecimal digits")
			}
			return Float{v, size}, nil
		}
	}
	v, err := strconv.ParseFloat(text, 64)
	if errors.Is(err, strconv.ErrRange) {
		return Float{}, errors.New("float " + clip(text) + " is out of range")
	}
	if err != nil || strings.ContainsAny(text, "_xXpP") {
		return Float{}, errors.New("malformed float " + clip(text))
	}
	return Float{math.Float64bits(v), 64}, nil
}

// clip shortens text for a message.
func clip(text string) string {
	if len(text) > 40 {
		return strconv.Quote(text[:40]) + "…"
	}
	return strconv.Quote(text)
}

var escapes = map[byte]byte{
	'n': '\n', 't': '\t', 'r': '\r', 'a': '\a', 'b': '\b', 'f': '\f', 'v': '\v', '\\': '\\', '"': '"', '\'': '\'',
}

// unquote decodes a string literal with C's escapes. A backslash before any other
// character stands for itself, as in Windows file names.
func unquote(text string) string {
	text = text[1 : len(text)-1]
	if strings.IndexByte(text, '\\') < 0 {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		n := octal(text[i:])
		switch e, ok := escapes[text[i]]; {
		case ok:
			b.WriteByte(e)
		case n > 0:
			v, _ := strconv.ParseUint(text[i:i+n], 8, 16)
			b.WriteByte(byte(v))
			i += n - 1
		default:
			b.WriteByte('\\')
			b.WriteByte(text[i])
		}
	}
	return b.String()
}

// octal counts the digits of an octal escape, at most three.
func octal(s string) (n int) {
	for n < len(s) && n < 3 && s[n] >= '0' && s[n] <= '7' {
		n++
	}
	return n
}

// quote is the inverse of unquote.
func quote(s string) string {
	b := []byte{'"'}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ' || c == 0x7f:
			b = append(b, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
		default:
			b = append(b, c)
		}
	}
	return string(append(b, '"'))
}
