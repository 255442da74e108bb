package muster

import (
	"muster/internal/machine"
	"muster/internal/rules"
)

// launchRules judges what the driver would refuse. A launch with such an error
// is not run: what it would do is known.
func (l *Launch) launchRules(declared [3]uint32) {
	cfg := l.config
	cfg.Cluster = declared
	for _, f := range rules.LaunchConfig(l.config.Program, &cfg) {
		if f.Severity == rules.Error {
			for i := range f.Sites {
				f.Sites[i].CTA, f.Sites[i].Warp, f.Sites[i].Mem = -1, -1, machine.Local
			}
			l.findings = append(l.findings, f)
		}
	}
}
