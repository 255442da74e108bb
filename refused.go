package muster

import (
	"fmt"

	"muster/internal/machine"
	"muster/internal/rules"
	"muster/launch"
)

// launchRules finds what the driver would refuse. A launch with a finding of severity
// error is not run, since its outcome is known.
func (l *Launch) launchRules(declared [][3]uint32) {
	for i, g := range l.config.Launches() {
		g.Cluster = declared[i]
		for _, f := range rules.LaunchConfig(l.config.Program, &g) {
			if f.Severity == rules.Error {
				for i := range f.Sites {
					f.Sites[i].CTA, f.Sites[i].Warp, f.Sites[i].Mem = -1, -1, machine.Local
				}
				l.findings = append(l.findings, f)
			}
		}
	}
}

// refusedMaps finds the tensor maps that the driver would refuse, in buffers,
// in variables and then in arguments.
func (l *Launch) refusedMaps(params []*launch.ParamBlock, variables map[string][]launch.PlacedMap) {
	find := func(which string, maps []launch.PlacedMap, i int) {
		if m := &maps[i]; m.Refused != "" {
			l.findings = append(l.findings, rules.RefusedMap(which, m.Map.Spec.Pos.String(), m.Refused))
		}
	}
	for i := range l.layout.Buffers {
		b := &l.layout.Buffers[i]
		for k := range b.Maps {
			find(fmt.Sprintf("buffer %s, element %d", b.Name, b.Maps[k].Offset/uint64(b.Type.Size())), b.Maps, k)
		}
	}
	for i := range l.file.Variables {
		name := l.file.Variables[i].Array.Name
		for k := range variables[name] {
			find(fmt.Sprintf("variable %s, byte %d", name, variables[name][k].Offset), variables[name], k)
		}
	}
	for _, p := range params {
		for k := range p.Maps {
			find(fmt.Sprintf("argument %d", p.Argument(&p.Maps[k])+1), p.Maps, k)
		}
	}
}
