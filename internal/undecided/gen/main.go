// Command gen writes docs/incomplete.md.
package main

import (
	"log"
	"os"

	"muster/internal/rules"
	"muster/internal/undecided"
)

func main() {
	log.SetFlags(0)
	if err := os.WriteFile("../../docs/incomplete.md", undecided.Page(rules.Names()), 0o644); err != nil {
		log.Fatal(err)
	}
}
