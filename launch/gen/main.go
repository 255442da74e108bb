// Command gen writes the reference of launch files, docs/launch.md, and their JSON Schema.
package main

import (
	"log"
	"os"

	"muster/launch"
)

func main() {
	log.SetFlags(0)
	for name, text := range map[string][]byte{
		"../docs/launch.md":          []byte(launch.Reference()),
		"../docs/launch.schema.json": launch.Schema(),
	} {
		if err := os.WriteFile(name, text, 0o644); err != nil {
			log.Fatal(err)
		}
	}
}
