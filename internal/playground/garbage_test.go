package playground

import "muster/internal/garbage"

func init() { garbage.Gather() }
