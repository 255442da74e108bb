package capture

import "muster/internal/garbage"

func init() { garbage.Gather() }
