package rules

// An Edge says which order between the first two places of a finding is missing.
type Edge int8

// The edges.
const (
	NoEdge  Edge = 0  // a count, a size or an operand is wrong
	Forward Edge = 1  // the first place must come before the second
	Back    Edge = -1 // the second place must come before the first
)

// edges has the kinds whose findings lack an order.
var edges = map[string]Edge{
	"async-async": Forward, "collective-order": Forward, "commit-release": Forward, "exit-in-flight": Forward, "init-not-ordered": Forward,
	"mixed-size-race": Forward, "overwrite-in-flight": Forward, "proxy-raw": Forward, "proxy-raw-cp-async": Forward, "proxy-war": Forward, "proxy-waw": Forward,
	"race-global": Forward, "race-lanes": Forward, "race-launches": Forward, "race-shared": Forward, "race-tensor": Forward, "read-in-flight": Forward,
	"register-in-flight": Forward, "relaxed-sync": Forward, "remote-before-start": Forward, "scope-defaulted": Forward, "scope-too-narrow": Forward,
	"tensor-address": Forward, "tensor-fence": Forward, "tensor-order": Forward, "tensor-wait": Forward, "tensormap-in-flight": Forward, "tensormap-stale": Forward,
	// What the first place does must wait for the second: a phase's completion for a look at
	// the phase before, an arrival for bytes that are expected, an exit for an access.
	"exit-before-remote": Back, "expect-late": Back, "lapped-lanes": Back, "lapped-wait": Back,
}

// Edge says which order is missing where the kind is found.
func (k *Kind) Edge() Edge { return edges[k.Name] }
