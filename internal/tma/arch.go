package tma

import "fmt"

// An Arch is the number of an architecture: 90 of sm_90a.
type Arch int

const (
	Hopper    Arch = 90
	Blackwell Arch = 100
)

// CheckOn gives a *RefusedError for what maps of that architecture do not have.
func (m *Map) CheckOn(a Arch) error {
	what, rule := "", RuleEnum
	switch {
	case m.Type > TF32FTZ:
		what, rule = fmt.Sprintf("type %s", m.Type), RuleType
	case m.Mode.wide():
		what = "mode im2col::w"
	case m.Swizzle > Swizzle128:
		what = fmt.Sprintf("swizzle %s", m.Swizzle)
	}
	switch {
	case what != "" && a < Blackwell:
		return refuse(rule, "a map of sm_%d has no %s", a, what)
	case m.Swizzle == Swizzle96 && a != 103 && a != 107: // ISA 9.7.10.29
		return refuse(RuleEnum, "a map of sm_%d has no swizzle 96B", a)
	}
	return nil
}

// CheckCluster gives a *FaultError for what a load with .shared::cluster as its
// destination does not have there (ISA 9.7.10.28.5.1).
func (m *Map) CheckCluster(a Arch) error {
	if a/10 != 12 {
		return nil
	}
	switch {
	case m.Type > TF32FTZ:
		return fault("a load of type %s to .shared::cluster, which sm_%d does not have", m.Type, a)
	case m.Swizzle > Swizzle128:
		return fault("a load with swizzle %s to .shared::cluster, which sm_%d does not have", m.Swizzle, a)
	}
	return nil
}
