#!/usr/bin/env bash
# When does ptxas keep setmaxnreg? Each line: the directives, and what ptxas says.
unset NVCC_APPEND_FLAGS
d=$(mktemp -d)
one() { # directives, options
	cat > "$d/k.ptx" <<P
.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out) $1
{
	.reg .pred %p; .reg .b32 %r<4>; .reg .b64 %rd<2>;
	mov.u32 %r1, %tid.x;
	setp.lt.u32 %p, %r1, 128;
	@%p bra A;
	setmaxnreg.inc.sync.aligned.u32 160;
	bra B;
A:	setmaxnreg.dec.sync.aligned.u32 40;
B:	ld.param.u64 %rd1, [out];
	st.global.u32 [%rd1], %r1;
	ret;
}
P
	say=$(ptxas -v -arch=sm_90a $2 -o "$d/k.cubin" "$d/k.ptx" 2>&1 | tr '\n' '|')
	echo "directives '$1' options '$2': USETMAXREG $(cuobjdump -sass "$d/k.cubin" 2>/dev/null | grep -c USETMAXREG); $say"
}
for opt in "" "-maxrregcount=128"; do
	for dir in "" ".maxntid 256, 1, 1" ".reqntid 256, 1, 1" ".minnctapersm 1" ".maxntid 256, 1, 1 .minnctapersm 1" ".reqntid 256, 1, 1 .minnctapersm 1" ".maxnreg 128" ".maxntid 256, 1, 1 .maxnreg 128" ".reqnctapercluster 2, 1, 1" ".maxnctapersm 1 .maxntid 256, 1, 1"; do
		one "$dir" "$opt"
	done
done
