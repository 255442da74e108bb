package playground

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"muster/internal/view/page"
)

// writePage writes the page's own files, and those that it shares with the page of a run. That
// page is shown in a frame without an address, to which the playground's policy passes on: so
// the policy names that page's style and script by their hashes.
func writePage(dir string) error {
	all, err := page.Shared()
	if err != nil {
		return err
	}
	own, err := fs.Sub(pages, "page")
	if err != nil {
		return err
	}
	err = fs.WalkDir(own, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if _, ok := all[name]; ok {
			return fmt.Errorf("BUG: %s is a file of both pages", name)
		}
		all[name], err = fs.ReadFile(own, name)
		return err
	})
	if err != nil {
		return err
	}
	styles, scripts, err := page.Hashes()
	if err != nil {
		return err
	}
	for mark, hash := range map[string]string{"{{view-style}}": styles, "{{view-script}}": scripts} {
		if !bytes.Contains(all["index.html"], []byte(mark)) {
			return fmt.Errorf("BUG: index.html has no %s", mark)
		}
		all["index.html"] = bytes.ReplaceAll(all["index.html"], []byte(mark), []byte(hash))
	}
	for name, data := range all {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			return err
		}
	}
	return nil
}
