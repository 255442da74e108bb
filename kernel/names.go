package kernel

import "fmt"

// claim registers a name of the module, and reports one that is no PTX identifier, is
// reserved in PTX, or is taken.
func (k *Kernel) claim(name, what string) string {
	why := ""
	switch at, taken := k.taken(name); {
	case !k.grow(1):
		return "late" // never used
	case !identifier(name):
		why = "a name has letters, digits, _ and $, and does not begin with a digit"
	case reserved(name):
		why = "the kernel has such a name itself, or PTX does"
	case taken:
		why = fmt.Sprintf("the name is taken since %s", at)
	default:
		k.names[name] = k.here()
		return name
	}
	k.fail("%s %q: %s", what, name, why)
	return k.fresh("bad")
}

// taken reports where a name was claimed.
func (k *Kernel) taken(name string) (at Place, ok bool) {
	if at, ok = k.names[name]; !ok {
		at, ok = k.inner[name]
	}
	return at, ok
}

// reserved reports names that PTX reserves, and names generated for labels and variables:
// $end12.
func reserved(name string) bool {
	last := name[len(name)-1]
	return name == dynamic || name == "WARP_SZ" || name[0] == '$' && last >= '0' && last <= '9'
}

// fresh claims an unused name: the given one, or one with it as a prefix.
func (k *Kernel) fresh(name string) string {
	for base := name; ; {
		if _, taken := k.taken(name); !taken {
			k.names[name] = k.here()
			return name
		}
		k.serial++
		name = fmt.Sprintf("%s_%d", base, k.serial)
	}
}

func identifier(s string) bool {
	for i, c := range []byte(s) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != "" && s != "_" && s != "$"
}
