package kernel

import "strings"

// special gives the type of a special register (ISA 10).
func special(name string) (Type, bool) {
	base, part, vector := strings.Cut(name, ".")
	if vector {
		switch base {
		case "%tid", "%ntid", "%ctaid", "%nctaid", "%clusterid", "%nclusterid", "%cluster_ctaid", "%cluster_nctaid":
			return U32, part == "x" || part == "y" || part == "z" || part == "w"
		}
		return "", false
	}
	switch name {
	case "%is_explicit_cluster":
		return predType, true
	case "%clock64", "%globaltimer", "%gridid", "%current_graph_exec":
		return U64, true
	case "%laneid", "%warpid", "%nwarpid", "%smid", "%nsmid", "%cluster_ctarank", "%cluster_nctarank",
		"%lanemask_eq", "%lanemask_lt", "%lanemask_le", "%lanemask_gt", "%lanemask_ge",
		"%clock", "%clock_hi", "%globaltimer_lo", "%globaltimer_hi",
		"%dynamic_smem_size", "%total_smem_size", "%aggr_smem_size",
		"%reserved_smem_offset_begin", "%reserved_smem_offset_end", "%reserved_smem_offset_cap",
		"%reserved_smem_offset_0", "%reserved_smem_offset_1":
		return U32, true
	}
	if n, ok := strings.CutPrefix(name, "%pm"); ok {
		n, wide := strings.CutSuffix(n, "_64")
		t := Type(U32)
		if wide {
			t = U64
		}
		return t, len(n) == 1 && n[0] >= '0' && n[0] <= '7'
	}
	n, ok := strings.CutPrefix(name, "%envreg")
	return B32, ok && (len(n) == 1 && n[0] >= '0' && n[0] <= '9' || len(n) == 2 && n >= "10" && n <= "31")
}
