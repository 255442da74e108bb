# Asks the card how wmma lays fragments out and what wmma.mma computes. Output, in the folder argv[1]:
#   layout.json   load/store: for each form, lane, register, slot -> element index in row-major order of the matrix
#   d/NAME.bin    D (row major, raw) of every tile of every kind of inputs, tile after tile
#   forms.json    what each NAME is: shape, types, kinds, tiles, seeds; inputs come from gen() below, integers only
#   wrong.json    what ptxas says of wrong forms
import ctypes,json,os,sys,struct,subprocess,time
import numpy as np
O=sys.argv[1]; os.makedirs(O+'/d',exist_ok=True); T0=time.time(); DRY=len(sys.argv)>2
if not DRY:
    cu=ctypes.CDLL('libcuda.so.1')
    def ck(r,w=''):
        if r: raise RuntimeError(f'{w} CUresult {r}')
    ck(cu.cuInit(0)); dev=ctypes.c_int(); ck(cu.cuDeviceGet(ctypes.byref(dev),0)); ctx=ctypes.c_void_p(); ck(cu.cuDevicePrimaryCtxRetain(ctypes.byref(ctx),dev)); ck(cu.cuCtxSetCurrent(ctx))
BUF={}
def dmem(k,n):
    if k not in BUF or BUF[k][1]<n:
        p=ctypes.c_uint64(); ck(cu.cuMemAlloc_v2(ctypes.byref(p),ctypes.c_size_t(n))); BUF[k]=(p,n)
    return BUF[k][0]
def load(ptx,name):
    if DRY: return None
    log=ctypes.create_string_buffer(8192); opt=(ctypes.c_int*2)(5,6); val=(ctypes.c_void_p*2)(ctypes.cast(log,ctypes.c_void_p).value,8192); m=ctypes.c_void_p()
    r=cu.cuModuleLoadDataEx(ctypes.byref(m),ctypes.c_char_p(ptx.encode()),2,opt,val)
    if r: raise RuntimeError(f'load {r}: '+log.value.decode(errors='replace')[:300])
    f=ctypes.c_void_p(); ck(cu.cuModuleGetFunction(ctypes.byref(f),m,name.encode())); return f
def launch(f,grid,ptrs):
    a=[ctypes.c_uint64(p.value) for p in ptrs]; ar=(ctypes.c_void_p*len(a))(*[ctypes.addressof(x) for x in a]); ck(cu.cuLaunchKernel(f,grid,1,1,32,1,1,0,None,ar,None)); ck(cu.cuCtxSynchronize(),'sync')
def up(k,b): p=dmem(k,len(b)+256); ck(cu.cuMemcpyHtoD_v2(p,(ctypes.c_char*len(b)).from_buffer_copy(b),ctypes.c_size_t(len(b)))); return p
def down(p,n): b=(ctypes.c_char*n)(); ck(cu.cuMemcpyDtoH_v2(b,p,ctypes.c_size_t(n))); return bytes(b)
HEAD='.version 8.6\n.target sm_90a\n.address_size 64\n'
BITS={'f16':16,'bf16':16,'tf32':32,'f32':32,'u8':8,'s8':8,'s32':32,'f64':64,'u4':4,'s4':4,'b1':1}
S3=('m16n16k16','m8n32k16','m32n8k16')
def dims(shape): 
    import re; return tuple(map(int,re.match(r'm(\d+)n(\d+)k(\d+)',shape).groups()))
def nregs(shape,mat,t):
    m,n,k=dims(shape)
    if t=='f16' and mat in 'ab': return 8
    if t=='f16': return 4
    if t=='f64': return 1 if mat in 'ab' else 2
    if t=='tf32': return 4
    e={'a':m*k,'b':k*n}.get(mat,m*n); return max(1,e*BITS[t]//(32*32))
def rt(t): return {'f32':'.f32','f64':'.f64'}.get(t,'.b32')
def sz(t): return 8 if t=='f64' else 4
def rc(shape,mat):
    m,n,k=dims(shape); return {'a':(m,k),'b':(k,n)}.get(mat,(m,n))
def regs(pfx,n): return '{'+', '.join(f'%{pfx}{i}' for i in range(n))+'}'
def st_ld(op,mat,layout,shape,t,stride,space):
    n=nregs(shape,mat,t)
    if op=='load': ins=f'wmma.load.{mat}.sync.aligned.{layout}.{shape}{space}.{t} {regs("r",n)}, [%p], {stride};'
    else: ins=f'wmma.store.d.sync.aligned.{layout}.{shape}{space}.{t} [%p], {regs("r",n)}, {stride};'
    w=sz(t); lines=[f'.visible .entry k(.param .u64 P, .param .u64 Q){{',f'.reg {rt(t)} %r<{n}>; .reg .b64 %p,%q,%a; .reg .b32 %t;','ld.param.u64 %p,[P]; ld.param.u64 %q,[Q]; mov.u32 %t,%tid.x;',f'mul.wide.u32 %a,%t,{n*w}; add.s64 %q,%q,%a;']
    mv=[f'{"st" if op=="load" else "ld"}.global{".b64" if w==8 else ".b32" if rt(t)==".b32" else rt(t)} '+(f'[%q+{i*w}],%r{i};' if op=='load' else f'%r{i},[%q+{i*w}];') for i in range(n)]
    lines+=([ins]+mv if op=='load' else mv+[ins])+['ret;','}']; return HEAD+'\n'.join(lines)+'\n'
def pack(vals,bits):
    vals=np.asarray(vals,dtype=np.uint64)
    if bits>=8: return vals.astype({8:np.uint8,16:np.uint16,32:np.uint32,64:np.uint64}[bits]).tobytes()
    per=8//bits; v=vals.reshape(-1,per); b=np.zeros(len(v),np.uint8)
    for i in range(per): b|=(v[:,i].astype(np.uint8)<<(i*bits))
    return b.tobytes()
def unpack(b,bits):
    if bits>=8: return np.frombuffer(b,{8:np.uint8,16:np.uint16,32:np.uint32,64:np.uint64}[bits]).astype(np.uint64)
    x=np.frombuffer(b,np.uint8); per=8//bits; return np.stack([(x>>(i*bits))&((1<<bits)-1) for i in range(per)],1).reshape(-1).astype(np.uint64)
LAY=[]
def lforms():
    for s in S3:
        for t in ('f16','bf16','u8','s8'):
            for mat in 'ab': yield s,mat,t
        for t in ('f16','f32','s32'): yield s,'c',t
    for mat in 'ab': yield 'm16n16k8',mat,'tf32'
    yield 'm16n16k8','c','f32'
    for mat,t in (('a','f64'),('b','f64'),('c','f64')): yield 'm8n8k4',mat,t
    for t in ('u4','s4'):
        for mat in 'ab': yield 'm8n8k32',mat,t
    yield 'm8n8k32','c','s32'
    for mat in 'ab': yield 'm8n8k128',mat,'b1'
    yield 'm8n8k128','c','s32'
def layouts(t,mat): return (('row',) if mat=='a' else ('col',)) if BITS[t]<8 else ('row','col')
def address(R,C,layout,stride): # element (r,c) -> index in memory
    r,c=np.meshgrid(np.arange(R),np.arange(C),indexing='ij'); return (r*stride+c if layout=='row' else c*stride+r).reshape(-1)
for shape,mat,t in lforms():
    R,C=rc(shape,mat); bits=BITS[t]; n=nregs(shape,mat,t)
    for layout in layouts(t,mat):
        lead=C if layout=='row' else R; pads=[0]+([{64:4,32:8,16:16,8:32}[bits]] if bits>=8 else [128 if bits==1 else 32])
        for pad in pads:
            for space in (('','.global') if pad==0 else ('.global',)):
                e={'op':'load','shape':shape,'matrix':mat,'type':t,'layout':layout,'stride':lead+pad,'space':space,'registers':n}
                try:
                    stride=lead+pad; f=load(st_ld('load',mat,layout,shape,t,stride,space),'k'); ad=address(R,C,layout,stride); tot=stride*(R if layout=='row' else C)
                    slots=32*n*sz(t)*8//bits; idx=np.zeros(slots,np.int64); passes=max(1,-(-11//bits))
                    for p in range(passes):
                        v=np.full(tot,(1<<bits)-1 if bits<64 else 0xffff,np.uint64); v[ad]=(np.arange(R*C,dtype=np.uint64)>>np.uint64(bits*p))&np.uint64((1<<min(bits,63))-1)
                        if DRY: continue
                        a=up('a',pack(v,bits)); o=up('o',b'\xee'*(32*n*sz(t))); launch(f,1,[a,o]); idx|=(unpack(down(o,32*n*sz(t)),bits).astype(np.int64)<<(bits*p))
                    e['elements']=idx.reshape(32,n,-1).tolist()
                except Exception as x: e['error']=str(x)
                LAY.append(e)
for shape,t in [(s,t) for s in S3 for t in ('f16','f32','s32')]+[('m16n16k8','f32'),('m8n8k4','f64'),('m8n8k32','s32'),('m8n8k128','s32')]:
    R,C=rc(shape,'c'); bits=BITS[t]; n=nregs(shape,'d',t)
    for layout in ('row','col'):
        for pad in (0,{64:4,32:8,16:16}[bits]):
            lead=C if layout=='row' else R; stride=lead+pad; e={'op':'store','shape':shape,'matrix':'d','type':t,'layout':layout,'stride':stride,'registers':n}
            try:
                f=load(st_ld('store','d',layout,shape,t,stride,'.global'),'k'); tot=stride*(R if layout=='row' else C); slots=32*n*sz(t)*8//bits
                if not DRY:
                    a=up('a',b'\xee'*(tot*bits//8)); o=up('o',pack(np.arange(slots),bits)); launch(f,1,[a,o]); mem=unpack(down(a,tot*bits//8),bits).astype(np.int64)
                    e['slot_of_element']=mem[address(R,C,layout,stride)].tolist(); pad_=np.ones(tot,bool); pad_[address(R,C,layout,stride)]=False; e['padding_written']=bool(np.any(mem[pad_]!=int('ee'*(bits//8),16)-(1<<64 if bits==64 else 0)))
            except Exception as x: e['error']=str(x)
            LAY.append(e)
json.dump(LAY,open(O+'/layout.json','w'))
print('layouts',len(LAY),'errors',sum('error' in e for e in LAY),[e['error'] for e in LAY if 'error' in e][:3],'%.1fs'%(time.time()-T0),flush=True)
# inputs: splitmix64 of a counter; integers only
M64=(1<<64)-1
def mix(x):
    x=np.asarray(x,np.uint64)+np.uint64(0x9E3779B97F4A7C15); x=(x^(x>>np.uint64(30)))*np.uint64(0xBF58476D1CE4E5B9); x=(x^(x>>np.uint64(27)))*np.uint64(0x94D049BB133111EB); return x^(x>>np.uint64(31))
FMT={'f16':(5,10),'bf16':(8,7),'tf32':(8,23),'f32':(8,23),'f64':(11,52)}
# kind: (exponents around the bias from, to); None: all bits random; 'special': one element in 16 is special
KINDS=['near','wide','bits','special','cancel','subnormal']
def fgen(t,u,kind,which):
    E,F=FMT[t]; bias=(1<<(E-1))-1; mant=u&np.uint64((1<<F)-1); sign=(u>>np.uint64(63))&np.uint64(1); r=(u>>np.uint64(53))&np.uint64(1023)
    if kind=='bits': return u>>np.uint64(64-E-F-1) if E+F+1<64 else u
    lo,hi={'near':(-2,2),'wide':(-min(bias-1,12 if t!='f16' else 10),min(bias-1,12 if t!='f16' else 10)),'special':(-3,3),'cancel':(-3,3),'subnormal':(-bias,-bias+3)}[kind]
    if kind=='subnormal' and which=='b': lo,hi=(-1,1)
    ex=np.uint64(bias+lo)+r%np.uint64(hi-lo+1); v=(sign<<np.uint64(E+F))|(ex<<np.uint64(F))|mant
    if kind=='special':
        s=(u>>np.uint64(48))&np.uint64(31); k=(u>>np.uint64(44))&np.uint64(15); z=np.uint64(((1<<E)-1)<<F); sg=sign<<np.uint64(E+F)
        sp=np.select([k<4,k<7,k<9,k<11,k<13],[sg|z,sg|z|np.uint64(1<<(F-1)),sg,sg|np.uint64(1),sg|z|np.uint64(1)],sg|(z-np.uint64(1<<F))|np.uint64((1<<F)-1)); v=np.where(s==0,sp,v)
    return v
def gen(t,seed,count,kind,which):
    """element i of matrix `which` of a tile: from u=mix(seed*2^32 + i)"""
    u=mix((np.uint64(seed)<<np.uint64(32))+np.arange(count,dtype=np.uint64))
    if t in FMT: return fgen(t,u,kind,which)
    b=BITS[t]
    if kind=='near': v=(u>>np.uint64(64-b)) if t!='s32' else ((u>>np.uint64(48)).astype(np.int64)-32768).astype(np.uint64)&np.uint64(0xffffffff)
    elif kind=='extreme': # largest magnitudes, for satfinite
        if t=='s32': v=np.where(u>>np.uint64(63)!=0,np.uint64(0x7fffff00)+(u&np.uint64(255)),np.uint64(0x80000000)+(u&np.uint64(255)))
        else: hi={'u8':255,'s8':127,'u4':15,'s4':7,'b1':1}[t]; lo={'u8':254,'s8':128,'u4':14,'s4':8,'b1':0}[t]; v=np.where(u>>np.uint64(63)!=0,np.uint64(hi),np.uint64(lo))
    else: v=u>>np.uint64(64-b)
    return v
def seedof(form,kind,tile,which): return ((form*8+kind)*256+tile)*4+'abc'.index(which)
def cancel(A,B,t,M,K,N): # element k odd: a equals its left neighbour, b is the neighbour's with the sign turned and the last bit perhaps other
    E,F=FMT[t]; A=A.reshape(M,K).copy(); B=B.reshape(K,N).copy(); A[:,1::2]=A[:,0::2]; B[1::2,:]=(B[0::2,:]^np.uint64(1<<(E+F)))^(B[1::2,:]&np.uint64(1)); return A.reshape(-1),B.reshape(-1)
FORMS=[]
def mforms():
    for s in S3:
        for d in ('f16','f32'):
            for c in ('f16','f32'):
                for sat in ('','.satfinite'): yield s,'f16',c,d,f'{s}.{d}.{c}{sat}',sat,None
        yield s,'bf16','f32','f32',f'{s}.f32.bf16.bf16.f32','',None
        for t in ('u8','s8'):
            for sat in ('','.satfinite'): yield s,t,'s32','s32',f'{s}.s32.{t}.{t}.s32{sat}',sat,None
    yield 'm16n16k8','tf32','f32','f32','m16n16k8.f32.tf32.tf32.f32','',None
    for r in ('','.rn','.rz','.rm','.rp'): yield 'm8n8k4','f64','f64','f64',f'm8n8k4{r}.f64.f64.f64.f64','',None
    for t in ('u4','s4'):
        for sat in ('','.satfinite'): yield 'm8n8k32',t,'s32','s32',f'm8n8k32.s32.{t}.{t}.s32{sat}',sat,None
    for op in ('xor','and'): yield 'm8n8k128','b1','s32','s32','m8n8k128.s32.b1.b1.s32','',op
def mma(shape,t,c,d,q,op,al,bl):
    M,N,K=dims(shape); na,nb,nc,nd=nregs(shape,'a',t),nregs(shape,'b',t),nregs(shape,'c',c),nregs(shape,'d',d); by=lambda n,x: n*BITS[x]//8
    ins=(f'wmma.mma.{op}.popc.sync.aligned.' if op else 'wmma.mma.sync.aligned.')+f'{al}.{bl}.{q} {regs("d",nd)}, {regs("a",na)}, {regs("b",nb)}, {regs("c",nc)};'
    L=['.visible .entry k(.param .u64 A,.param .u64 B,.param .u64 C,.param .u64 D){',f'.reg {rt(t)} %a<{na}>,%b<{nb}>; .reg {rt(c)} %c<{nc}>; .reg {rt(d)} %d<{nd}>; .reg .b64 %p0,%p1,%p2,%p3,%q; .reg .b32 %t;','mov.u32 %t,%ctaid.x;']
    for i,(x,n) in enumerate((('A',by(M*K,t)),('B',by(K*N,t)),('C',by(M*N,c)),('D',by(M*N,d)))): L+=[f'ld.param.u64 %p{i},[{x}]; mul.wide.u32 %q,%t,{n}; add.s64 %p{i},%p{i},%q;']
    L+=[f'wmma.load.a.sync.aligned.{al}.{shape}.global.{t} {regs("a",na)}, [%p0], {K if al=="row" else M};',f'wmma.load.b.sync.aligned.{bl}.{shape}.global.{t} {regs("b",nb)}, [%p1], {N if bl=="row" else K};',f'wmma.load.c.sync.aligned.row.{shape}.global.{c} {regs("c",nc)}, [%p2], {N};',ins,f'wmma.store.d.sync.aligned.row.{shape}.global.{d} [%p3], {regs("d",nd)}, {N};','ret;','}']
    return HEAD+'\n'.join(L)+'\n'
def rm(v,R,C,layout): return v if layout=='row' else np.ascontiguousarray(v.reshape(R,C).T).reshape(-1)
np.seterr(over='ignore')
for fi,(shape,t,c,d,q,sat,op) in enumerate(mforms()):
    M,N,K=dims(shape); fl=t in FMT; kinds=KINDS if fl else ['near','extreme','bits']; tiles=24 if fl else 16; name=('%02d.'%fi)+(op+'.' if op else '')+q
    e={'name':name,'index':fi,'shape':shape,'ab':t,'c':c,'d':d,'satfinite':bool(sat),'op':op,'kinds':kinds,'tiles':tiles}; FORMS.append(e)
    try:
        A,B,Cc=[],[],[]
        for ki,kind in enumerate(kinds):
            for ti in range(tiles):
                a=gen(t,seedof(fi,ki,ti,'a'),M*K,kind,'a'); b=gen(t,seedof(fi,ki,ti,'b'),K*N,kind,'b'); cc=gen(c,seedof(fi,ki,ti,'c'),M*N,kind,'c')
                if kind=='cancel': a,b=cancel(a,b,t,M,K,N)
                A.append(a); B.append(b); Cc.append(cc)
        e['sha']=__import__('hashlib').sha256(np.concatenate(A+B+Cc).tobytes()).hexdigest()
        outs={}
        for al,bl in ([('row','col')] if BITS[t]<8 else [('row','col'),('row','row'),('col','row'),('col','col')]):
            f=load(mma(shape,t,c,d,q,op,al,bl),'k')
            if DRY: continue
            pa=up('a',b''.join(pack(rm(x,M,K,al),BITS[t]) for x in A)); pb=up('b',b''.join(pack(rm(x,K,N,bl) if BITS[t]>=8 else np.ascontiguousarray(x.reshape(K,N).T).reshape(-1),BITS[t]) for x in B)); pc=up('c',b''.join(pack(x,BITS[c]) for x in Cc)); n=len(A)*M*N*BITS[d]//8; pd=up('o',b'\xee'*n); launch(f,len(A),[pa,pb,pc,pd]); outs[al+bl]=down(pd,n)
        e['layouts_agree']=len(set(outs.values()))<=1; e['layouts']=sorted(outs)
        if outs: open(f'{O}/d/{name}.bin','wb').write(outs['rowcol'])
    except Exception as x: e['error']=str(x)
json.dump(FORMS,open(O+'/forms.json','w'),indent=1)
print('forms',len(FORMS),'errors',[(e['name'],e['error'][:120]) for e in FORMS if 'error' in e][:4],'disagree',[e['name'] for e in FORMS if e.get('layouts_agree')==False],'%.1fs'%(time.time()-T0),flush=True)
# what ptxas says
W=[]
def w(body,decl=''): W.append((decl,body))
R8='{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}'; R4='{%r0,%r1,%r2,%r3}'; R2='{%r0,%r1}'; F8='{%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7}'; Q8='{%s0,%s1,%s2,%s3,%s4,%s5,%s6,%s7}'; D2='{%d0,%d1}'
for x in (f'wmma.load.a.sync.aligned.row.m16n16k16.f16 {R8},[%p];',f'wmma.load.a.sync.aligned.row.m16n16k16.f16 {R8},[%p],%t;',f'wmma.load.a.sync.aligned.row.m16n16k16.f16 {R8},[%p],12;',f'wmma.load.a.sync.aligned.row.m16n16k16.f16 {R8},[%p],8;',f'wmma.load.a.sync.aligned.row.m16n16k16.f16 {R8},[%p],0;',f'wmma.load.a.sync.aligned.row.m16n16k16.f16 {R8},[%p],-16;',f'wmma.load.a.sync.aligned.row.m16n16k16.f16 {R8},[%p+4],16;',f'wmma.load.a.sync.aligned.row.m16n16k16.f16 {R4},[%p],16;',f'wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {R8},[%p],16;',f'wmma.load.a.sync.aligned.row.m16n16k16.shared::cta.f16 {R8},[%p],16;',f'wmma.load.a.sync.aligned.row.m16n16k16.shared::cluster.f16 {R8},[%p],16;',f'wmma.load.a.sync.aligned.row.m16n16k16.local.f16 {R8},[%p],16;',f'wmma.load.a.sync.aligned.row.m16n16k16.const.f16 {R8},[%p],16;',f'wmma.load.a.aligned.row.m16n16k16.f16 {R8},[%p],16;',f'wmma.load.a.sync.row.m16n16k16.f16 {R8},[%p],16;',f'wmma.load.a.sync.aligned.m16n16k16.f16 {R8},[%p],16;',f'wmma.load.a.sync.aligned.row.m16n16k8.f16 {R8},[%p],16;',f'wmma.load.a.sync.aligned.row.m16n16k8.tf32 {R4},[%p],8;',f'wmma.load.a.sync.aligned.row.m16n16k16.tf32 {R4},[%p],16;',f'wmma.load.a.sync.aligned.row.m16n16k16.f32 {F8},[%p],16;',f'wmma.load.c.sync.aligned.row.m16n16k16.f32 {F8},[%p],16;',f'wmma.load.c.sync.aligned.row.m16n16k16.f32 {R8},[%p],16;',f'wmma.load.c.sync.aligned.row.m16n16k16.bf16 {R4},[%p],16;',f'wmma.load.d.sync.aligned.row.m16n16k16.f32 {F8},[%p],16;',f'wmma.load.a.sync.aligned.row.m16n16k16.f16 {F8},[%p],16;',f'wmma.load.a.sync.aligned.col.m8n8k32.s4 {{%r0}},[%p],32;',f'wmma.load.a.sync.aligned.row.m8n8k32.s4 {{%r0}},[%p],32;',f'wmma.load.a.sync.aligned.row.m8n8k32.s4 %r0,[%p],32;',f'wmma.load.a.sync.aligned.row.m8n8k32.s4 {{%r0}},[%p],40;',f'wmma.load.b.sync.aligned.row.m8n8k128.b1 {{%r0}},[%p],128;',f'wmma.load.b.sync.aligned.col.m8n8k128.b1 {{%r0}},[%p],128;',f'wmma.load.a.sync.aligned.row.m8n8k4.f64 {{%d0}},[%p],4;',f'wmma.load.a.sync.aligned.row.m8n8k4.f64 {{%d0}},[%p],3;',f'wmma.store.d.sync.aligned.row.m16n16k16.f32 [%p],{F8},16;',f'wmma.store.d.sync.aligned.row.m16n16k16.f16 [%p],{R4},16;',f'wmma.store.d.sync.aligned.row.m16n16k16.f16 [%p],{R8},16;',f'wmma.store.d.sync.aligned.row.m16n16k16.bf16 [%p],{R4},16;',f'wmma.store.c.sync.aligned.row.m16n16k16.f32 [%p],{F8},16;',f'wmma.store.d.sync.aligned.row.m16n16k16.const.f32 [%p],{F8},16;',f'wmma.store.d.sync.aligned.row.m16n16k16.f32 [%p],{F8};',
 f'wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {F8},{R8},{R8},{F8};',f'wmma.mma.sync.aligned.row.col.m16n16k16.f32.f16 {F8},{R8},{R8},{R4};',f'wmma.mma.sync.aligned.row.col.m16n16k16.f32.f16.f16.f32 {F8},{R8},{R8},{F8};',f'wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32.satfinite {F8},{R8},{R8},{F8};',f'wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16.satfinite {R4},{R8},{R8},{R4};',f'wmma.mma.sync.aligned.row.col.m16n16k16.f32.bf16.bf16.f32 {F8},{R4},{R4},{F8};',f'wmma.mma.sync.aligned.row.col.m16n16k16.f32.bf16.bf16.f32.satfinite {F8},{R4},{R4},{F8};',f'wmma.mma.sync.aligned.row.col.m16n16k16.f32.bf16.f16.f32 {F8},{R4},{R8},{F8};',f'wmma.mma.sync.aligned.row.col.m16n16k16.bf16.bf16.bf16.bf16 {R4},{R4},{R4},{R4};',f'wmma.mma.sync.aligned.row.col.m16n16k16.s32.u8.u8.s32 {Q8},{R2},{R2},{Q8};',f'wmma.mma.sync.aligned.row.col.m16n16k16.s32.u8.s8.s32 {Q8},{R2},{R2},{Q8};',f'wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32.satfinite {Q8},{R2},{R2},{Q8};',f'wmma.mma.sync.aligned.row.col.satfinite.m16n16k16.s32.s8.s8.s32 {Q8},{R2},{R2},{Q8};',f'wmma.mma.sync.aligned.row.row.m8n8k32.s32.s4.s4.s32 {{%s0,%s1}},{{%r0}},{{%r1}},{{%s2,%s3}};',f'wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32 {{%s0,%s1}},{{%r0}},{{%r1}},{{%s2,%s3}};',f'wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.u4.s32 {{%s0,%s1}},{{%r0}},{{%r1}},{{%s2,%s3}};',f'wmma.mma.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 {{%s0,%s1}},{{%r0}},{{%r1}},{{%s2,%s3}};',f'wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 {{%s0,%s1}},{{%r0}},{{%r1}},{{%s2,%s3}};',f'wmma.mma.or.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 {{%s0,%s1}},{{%r0}},{{%r1}},{{%s2,%s3}};',f'wmma.mma.xor.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 {{%s0,%s1}},{{%r0}},{{%r1}},{{%s2,%s3}};',f'wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32.satfinite {{%s0,%s1}},{{%r0}},{{%r1}},{{%s2,%s3}};',f'wmma.mma.sync.aligned.row.col.m8n8k4.rn.f64.f64.f64.f64 {D2},{{%d2}},{{%d3}},{D2};',f'wmma.mma.sync.aligned.row.col.m8n8k4.rni.f64.f64.f64.f64 {D2},{{%d2}},{{%d3}},{D2};',f'wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32 {F8},{R4},{R4},{F8};',f'wmma.mma.sync.aligned.row.col.m16n16k8.rn.f32.tf32.tf32.f32 {F8},{R4},{R4},{F8};',f'wmma.mma.sync.aligned.row.col.m16n16k16.rn.f32.f32 {F8},{R8},{R8},{F8};',f'wmma.mma.sync.aligned.row.m16n16k16.f32.f32 {F8},{R8},{R8},{F8};',f'wmma.mma.aligned.row.col.m16n16k16.f32.f32 {F8},{R8},{R8},{F8};',f'@%pp wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {F8},{R8},{R8},{F8};',f'wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {F8},{R4},{R8},{F8};'): w(x)
def one(i):
    decl,body=W[i]; src=HEAD+f'.visible .entry k(.param .u64 P){{\n.reg .b32 %r<8>,%t; .reg .f32 %f<8>; .reg .s32 %s<8>; .reg .f64 %d<4>; .reg .b64 %p; .reg .pred %pp;\nld.param.u64 %p,[P];\n{body}\nret;\n}}\n'; p=f'{O}/w{i}.ptx'; open(p,'w').write(src); out={}
    for a in ('sm_90a','sm_90'):
        r=subprocess.run(['ptxas','-arch='+a,'-o','/dev/null',p] if a=='sm_90a' else ['ptxas','-arch='+a,'-o','/dev/null','-'],input=src.replace('sm_90a',a).encode() if a!='sm_90a' else None,capture_output=True); out[a]=(r.returncode,(r.stdout+r.stderr).decode(errors='replace').replace(O,'')[:600])
        if a=='sm_90a': break
    os.remove(p); return {'body':body,'status':out['sm_90a'][0],'says':out['sm_90a'][1]}
if not DRY:
    import concurrent.futures as cf
    try:
        with cf.ThreadPoolExecutor(8) as ex: r=list(ex.map(one,range(len(W))))
    except Exception as x: r=[{'error':str(x)}]
    json.dump(r,open(O+'/wrong.json','w'),indent=1); print('wrong',len(r),sum(x.get('status')!=0 for x in r),'%.1fs'%(time.time()-T0),flush=True)
