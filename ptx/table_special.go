package ptx

import (
	"fmt"
	"strings"
)

// Special registers by the version of PTX and the architecture that introduced them, and
// their type (the notes of ISA 10.1 to 10.33). "varies" marks registers whose value no
// run determines.
const specialTable = `
1.0 sm_10 v4.u32 %tid %ntid %ctaid %nctaid
1.0 sm_10 u32 varies %clock
1.0 sm_10 u64 %gridid
1.3 sm_10 u32 varies %warpid %smid
1.3 sm_10 u32 %laneid %pm0 %pm1 %pm2 %pm3
2.0 sm_20 u32 varies %nsmid
2.0 sm_20 u32 %nwarpid %lanemask_eq %lanemask_le %lanemask_lt %lanemask_ge %lanemask_gt
2.0 sm_20 u64 varies %clock64
3.0 sm_20 u32 %pm4 %pm5 %pm6 %pm7
3.1 sm_30 u64 varies %globaltimer
3.1 sm_30 u32 varies %globaltimer_lo %globaltimer_hi
4.0 sm_50 u64 %pm0_64 %pm1_64 %pm2_64 %pm3_64 %pm4_64 %pm5_64 %pm6_64 %pm7_64
4.1 sm_20 u32 %total_smem_size %dynamic_smem_size
5.0 sm_20 u32 varies %clock_hi
7.6 sm_80 u32 %reserved_smem_offset_begin %reserved_smem_offset_end %reserved_smem_offset_cap %reserved_smem_offset_0 %reserved_smem_offset_1
7.8 sm_90 pred %is_explicit_cluster
7.8 sm_90 v4.u32 %clusterid %nclusterid %cluster_ctaid %cluster_nctaid
7.8 sm_90 u32 %cluster_ctarank %cluster_nctarank
8.0 sm_50 u64 %current_graph_exec
8.1 sm_90 u32 %aggr_smem_size
`

// A Special is a special register, or a component of a vector one.
type Special struct {
	Type    string // "u32", or "v4.u32" for a vector
	Version Version
	SM      SM
	// Varies: it shows time, or the placement of a CTA, which no run determines.
	Varies bool
}

// LookupSpecial finds a special register by its name, "%tid" or "%tid.x".
func LookupSpecial(name string) (Special, bool) {
	base, part, ok := strings.Cut(name, ".")
	s, known := specials[base]
	if !ok || !known {
		return s, known
	}
	s.Type, ok = strings.CutPrefix(s.Type, "v4.")
	return s, ok && len(part) == 1 && strings.Contains("xyzw", part)
}

var specials = func() map[string]Special {
	m := map[string]Special{}
	for line := range strings.Lines(specialTable) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		s := Special{Type: words[2], SM: parseSM(line, strings.TrimPrefix(words[1], "sm_"))}
		if _, err := fmt.Sscanf(words[0], "%d.%d", &s.Version.Major, &s.Version.Minor); err != nil {
			badRow(line, "version %q", words[0])
		}
		names := words[3:]
		if names[0] == "varies" {
			s.Varies, names = true, names[1:]
		}
		for _, name := range names {
			m[name] = s
		}
	}
	for i := range 32 { // %envreg<32>, ISA 10.27
		m[fmt.Sprintf("%%envreg%d", i)] = Special{Type: "b32", Version: Version{2, 1}, SM: SM{Number: 10}}
	}
	return m
}()
