package ptx

// Video instructions (ISA 9.7.18). A destination with a selector merges into
// operand c; a mask on a SIMD destination chooses its parts.
const videoTable = `
= 9.7.18.1.1 video 2.0 sm_20 effect=compute
vadd         | vadd.<dtype:@vtype>.<atype:@vtype>.<btype:@vtype>{.sat}{.<op2:@op2>} =^d:<dtype>, ^a:<atype>, ^b:<btype>, op2??c:<dtype>
vsub         | vsub.<dtype:@vtype>.<atype:@vtype>.<btype:@vtype>{.sat}{.<op2:@op2>} =^d:<dtype>, ^a:<atype>, ^b:<btype>, op2??c:<dtype>
vabsdiff     | vabsdiff.<dtype:@vtype>.<atype:@vtype>.<btype:@vtype>{.sat}{.<op2:@op2>} =^d:<dtype>, ^a:<atype>, ^b:<btype>, op2??c:<dtype>
vmin         | vmin.<dtype:@vtype>.<atype:@vtype>.<btype:@vtype>{.sat}{.<op2:@op2>} =^d:<dtype>, ^a:<atype>, ^b:<btype>, op2??c:<dtype>
vmax         | vmax.<dtype:@vtype>.<atype:@vtype>.<btype:@vtype>{.sat}{.<op2:@op2>} =^d:<dtype>, ^a:<atype>, ^b:<btype>, op2??c:<dtype>
vshl         | vshl.<dtype:@vtype>.<atype:@vtype>.<btype:u32>{.sat}.<mode:clamp,wrap>{.<op2:@op2>} =^d:<dtype>, ^a:<atype>, ^b:<btype>, op2??c:<dtype> | sec=9.7.18.1.2
vshr         | vshr.<dtype:@vtype>.<atype:@vtype>.<btype:u32>{.sat}.<mode:clamp,wrap>{.<op2:@op2>} =^d:<dtype>, ^a:<atype>, ^b:<btype>, op2??c:<dtype> | sec=9.7.18.1.2
vmad         | vmad.<dtype:@vtype>.<atype:@vtype>.<btype:@vtype>{.po}{.sat}{.<shift:shr7,shr15>} =^d:<dtype>, ^a:<atype>, ^b:<btype>, c:<dtype> | sec=9.7.18.1.3
vset         | vset.<atype:@vtype>.<btype:@vtype>.<cmp:@vcmp>{.<op2:@op2>} =^d:u32, ^a:<atype>, ^b:<btype>, op2??c:u32 | sec=9.7.18.1.4
= 9.7.18.2.1 video 3.0 sm_30 effect=compute
vadd2        | vadd2.<dtype:@vtype>.<atype:@vtype>.<btype:@vtype>{.sat}{.add} =^d:<dtype>, ^a:<atype>, ^b:<btype>, c:<dtype> | if=add>sat:-
vsub2        | vsub2.<dtype:@vtype>.<atype:@vtype>.<btype:@vtype>{.sat}{.add} =^d:<dtype>, ^a:<atype>, ^b:<btype>, c:<dtype> | if=add>sat:-
vavrg2       | vavrg2.<dtype:@vtype>.<atype:@vtype>.<btype:@vtype>{.sat}{.add} =^d:<dtype>, ^a:<atype>, ^b:<btype>, c:<dtype> | if=add>sat:-
vabsdiff2    | vabsdiff2.<dtype:@vtype>.<atype:@vtype>.<btype:@vtype>{.sat}{.add} =^d:<dtype>, ^a:<atype>, ^b:<btype>, c:<dtype> | if=add>sat:-
vmin2        | vmin2.<dtype:@vtype>.<atype:@vtype>.<btype:@vtype>{.sat}{.add} =^d:<dtype>, ^a:<atype>, ^b:<btype>, c:<dtype> | if=add>sat:-
vmax2        | vmax2.<dtype:@vtype>.<atype:@vtype>.<btype:@vtype>{.sat}{.add} =^d:<dtype>, ^a:<atype>, ^b:<btype>, c:<dtype> | if=add>sat:-
vset2        | vset2.<atype:@vtype>.<btype:@vtype>.<cmp:@vcmp>{.add} =^d:u32, ^a:<atype>, ^b:<btype>, c:u32 | sec=9.7.18.2.2
= 9.7.18.2.3 video 3.0 sm_30 effect=compute
vadd4        | vadd4.<dtype:@vtype>.<atype:@vtype>.<btype:@vtype>{.sat}{.add} =^d:<dtype>, ^a:<atype>, ^b:<btype>, c:<dtype> | if=add>sat:-
vsub4        | vsub4.<dtype:@vtype>.<atype:@vtype>.<btype:@vtype>{.sat}{.add} =^d:<dtype>, ^a:<atype>, ^b:<btype>, c:<dtype> | if=add>sat:-
vavrg4       | vavrg4.<dtype:@vtype>.<atype:@vtype>.<btype:@vtype>{.sat}{.add} =^d:<dtype>, ^a:<atype>, ^b:<btype>, c:<dtype> | if=add>sat:-
vabsdiff4    | vabsdiff4.<dtype:@vtype>.<atype:@vtype>.<btype:@vtype>{.sat}{.add} =^d:<dtype>, ^a:<atype>, ^b:<btype>, c:<dtype> | if=add>sat:-
vmin4        | vmin4.<dtype:@vtype>.<atype:@vtype>.<btype:@vtype>{.sat}{.add} =^d:<dtype>, ^a:<atype>, ^b:<btype>, c:<dtype> | if=add>sat:-
vmax4        | vmax4.<dtype:@vtype>.<atype:@vtype>.<btype:@vtype>{.sat}{.add} =^d:<dtype>, ^a:<atype>, ^b:<btype>, c:<dtype> | if=add>sat:-
vset4        | vset4.<atype:@vtype>.<btype:@vtype>.<cmp:@vcmp>{.add} =^d:u32, ^a:<atype>, ^b:<btype>, c:u32 | sec=9.7.18.2.4
`

// The stack and the rest (ISA 9.7.17, 9.7.19).
const miscTable = `
= 9.7.17.1 stack 7.3 sm_52 space=local effect=stack-save
stacksave    | stacksave.<type:u32,u64> d
stackrestore | stackrestore.<type:u32,u64> a | sec=9.7.17.2 effect=stack-restore
alloca       | alloca.<type:u32,u64> d, size, ?#align:u32 | sec=9.7.17.3 effect=none
= 9.7.19.1 control 1.0 sm_11 effect=hint
brkpt        | brkpt | effect=none
nanosleep    | nanosleep.<type:u32> t | sec=9.7.19.2 ptx=6.3 sm=70 takes=6.2/sm_70 effect=sleep,hint
pmevent      | pmevent #event:u32 | sec=9.7.19.3 ptx=1.4 sm=10
pmevent.mask | pmevent.mask #events:u16 | sec=9.7.19.3 ptx=3.0 sm=20
trap         | trap | sec=9.7.19.4 sm=10 effect=trap
setmaxnreg   | setmaxnreg.<action:inc,dec>.sync.aligned.<type:u32> #count | sec=9.7.19.5 ptx=8.0 sm=90a effect=registers
`
