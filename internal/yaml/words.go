package yaml

import (
	"regexp"
	"strings"
)

// The parser speaks of tokens and nodes. These are its messages that a slip of the pen leads to,
// in the words of who writes a launch file; others are passed on.
var words = map[string]string{
	"non-map value is specified":                                         "want a key, a colon, a blank and a value, as grid: 1",
	"unexpected key name":                                                "want a key before the colon, as grid: 1",
	"mapping value is not allowed in this context":                       "a key cannot stand here: check the indentation, and that lists have [ ] and mappings { }",
	"value is not allowed in this context":                               "nothing more can stand here: check the brackets and the indentation",
	"value is not allowed in this context. map key-value is pre-defined": "nothing more can stand here: check the brackets and the indentation",
	"block sequence entries are not allowed in this context":             "a list of dashes begins on a line of its own, under its key",
	"could not find flow mapping end token '}'":                          "this '{' is not closed",
	"sequence end token ']' not found":                                   "this '[' is not closed",
	"could not find '[' character corresponding to ']'":                  "there is no '[' that this ']' closes",
	"could not find '{' character corresponding to '}'":                  "there is no '{' that this '}' closes",
	"',' or '}' must be specified":                                       "want ',' or '}' before this",
	"',' or ']' must be specified":                                       "want ',' or ']' before this",
	"expected sequence element, but found ','":                           "want an element before the ','",
	"found an invalid key for this map":                                  "a key is a word",
	"unexpected map key":                                                 "a key cannot stand here",
	"could not find end character of double-quoted text":                 "this \" is not closed",
	"could not find end character of single-quoted text":                 "this ' is not closed",
	`found character '\t' that cannot start any token`:                   "a tab cannot indent in YAML: write blanks",
	"unexpected directive value. document not started":                   "a '%' cannot begin a value: quote it",
	"unexpected end content":                                             "nothing can stand behind the end of the document",
	"invalid number of indent is specified in the multi-line header":     "this text is indented less than its header says",
	"could not find value for mapping key":                               "a key without a value",
	"could not find map value":                                           "a key without a value",
	"unexpected scalar value":                                            "nothing more can stand here: check the brackets and the indentation",
	"unexpected scalar value type":                                       "nothing more can stand here: check the brackets and the indentation",
	"undefined anchor name":                                              "an '&' stands before the name of an anchor; quote it if it is text",
	"undefined anchor value":                                             "an anchor without a value",
	"could not find anchor value":                                        "an anchor without a value",
	"undefined alias name":                                               "a '*' stands before the name of an anchor; quote it if it is text",
	"map key definition includes an implicit line break":                 "a key ends on its line",
	"value cannot be placed after document separator":                    "nothing can stand behind --- or ...",
	"sequence entries are not allowed after anchor on the same line":     "a list of dashes begins on a line of its own",
	"unexpected map key-value pair":                                      "a key cannot stand here: check the indentation",
	"expected map key-value delimiter ':'":                               "want a colon behind the key",
	"specified not scalar tag":                                           "a launch file has no use for tag",
	"tag is not allowed in this context":                                 "a launch file has no use for tag",
	"anchor is not allowed in this context":                              "an anchor cannot stand here",
	"anchors cannot be used consecutively":                               "an anchor of an anchor",
	"unexpected anchor. anchor name is not scalar value":                 "an '&' stands before the name of an anchor; quote it if it is text",
	"unexpected alias. alias name is not scalar value":                   "a '*' stands before the name of an anchor; quote it if it is text",
	"could not find alias value":                                         "a '*' stands before the name of an anchor; quote it if it is text",
}

// Messages that quote the text.
var wordsOf = []struct {
	theirs *regexp.Regexp
	ours   string
}{
	{regexp.MustCompile(`^mapping key "(.*)" already defined at \[(\d+):\d+\]$`), `duplicate key "$1", first at line $2`},
	{regexp.MustCompile(`^found unknown escape character '(.*)'$`), `\$1 is no escape in double quotes; single quotes take a backslash as it is`},
	{regexp.MustCompile(`^'(.*)' is a reserved character$`), "'$1' cannot begin a value in YAML: quote it"},
	{regexp.MustCompile(`^invalid header option: "(.*)"$`), "'$1' cannot stand behind | or >"},
}

// inWords says what the parser says, in one line; tabs are quoted.
func inWords(msg string) string {
	msg = strings.Join(strings.Fields(strings.ReplaceAll(msg, "\t", `\t`)), " ")
	if ours := words[msg]; ours != "" {
		return ours
	}
	for _, w := range wordsOf {
		if w.theirs.MatchString(msg) {
			return w.theirs.ReplaceAllString(msg, w.ours)
		}
	}
	return msg
}
