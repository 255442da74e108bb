// Command build makes the playground: the site on which the command runs in a browser.
//
//	go run ./internal/playground/build FOLDER
package main

import (
	"log"
	"os"
	"os/exec"
	"strings"

	"muster/internal/playground"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("playground: ")
	if len(os.Args) != 2 || strings.HasPrefix(os.Args[1], "-") {
		log.Fatal("usage: go run ./internal/playground/build FOLDER")
	}
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "muster").Output()
	if err != nil {
		log.Fatalf("this is made from a clone of the repository: go list -m muster: %v", err)
	}
	if err := playground.Write(strings.TrimSpace(string(root)), os.Args[1]); err != nil {
		log.Fatal(err)
	}
}
