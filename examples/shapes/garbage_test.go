package shapes_test

import "muster/internal/garbage"

func init() { garbage.Gather() }
