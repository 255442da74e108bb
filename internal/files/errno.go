//go:build !js

package files

// worded is an error of the system in its own words.
func worded(err error) error { return err }
