#!/bin/bash
# Compiles every source here to ../*.ptx; see ../README.md. Needs nvcc 13,
# clang, and a Python with Triton, JAX and Numba beside a Hopper GPU; whatever
# is missing is left out. Usage: make.sh [nvcc|clang|python ...]
cd "$(dirname "$0")" || exit
out=$(cd .. && pwd)

# base names only in .file, so that the texts do not tell where they were made
strip() { sed -i -E 's#(\.file[[:space:]]+[0-9]+[[:space:]]+")[^"]*/#\1#; s#^(\s*\.file\s+[0-9]+ )"[^"]*" "#\1"#' "$1"; }

one() { # one OUTPUT SOURCE NVCC-FLAGS...
  local o=$1 s=$2
  shift 2
  if nvcc -std=c++17 -ptx "$@" "$s.cu" -o "$out/$o.ptx" 2>"/tmp/$o.err"; then
    strip "$out/$o.ptx"
    echo "made $o"
  else
    rm -f "$out/$o.ptx"
    echo "FAILED $o: $(grep -m3 -i error "/tmp/$o.err")"
  fi
}
export -f one strip
export out

a90='-gencode arch=compute_90a,code=sm_90a'
nvcc_jobs() {
  cat <<LIST
groups_sm90 groups -lineinfo -gencode arch=compute_90,code=sm_90
groups_sm80 groups -gencode arch=compute_80,code=sm_80
barrier_sm90a barrier -lineinfo $a90
barrier_sm75 barrier -gencode arch=compute_75,code=sm_75
print_sm90 print -gencode arch=compute_90,code=sm_90
print_debug print -G -gencode arch=compute_90,code=sm_90
calls_sm90 calls -lineinfo -gencode arch=compute_90,code=sm_90
calls_debug calls -G -gencode arch=compute_90,code=sm_90
calls_rdc calls -rdc=true -gencode arch=compute_80,code=sm_80
warp_sm90a warp $a90
warp_sm75 warp -gencode arch=compute_75,code=sm_75
atomics_sm90 atomics -gencode arch=compute_90,code=sm_90
half_sm90 half -gencode arch=compute_90,code=sm_90
tables_sm90 tables -lineinfo -gencode arch=compute_90,code=sm_90
tables_debug tables -G -gencode arch=compute_90,code=sm_90
texture_sm80 texture -gencode arch=compute_80,code=sm_80
cpasync_sm80 cpasync -lineinfo -gencode arch=compute_80,code=sm_80
cluster_sm90a cluster -lineinfo $a90
cluster_sm100a cluster -gencode arch=compute_100a,code=sm_100a
roles_sm90a roles $a90
bulk_sm90a bulk -lineinfo $a90
fences_sm90a fences $a90
wgmma_sm90a wgmma $a90
mma_sm90a mma $a90
integer_sm90 integer -gencode arch=compute_90,code=sm_90
spaces_sm90 spaces -gencode arch=compute_90,code=sm_90
spaces_debug spaces -G -gencode arch=compute_90a,code=sm_90a
maths_sm90 maths -gencode arch=compute_90,code=sm_90
maths_fast maths --use_fast_math -gencode arch=compute_90,code=sm_90
scan_sm90 scan -gencode arch=compute_90,code=sm_90
blackwell_sm100a blackwell -lineinfo -gencode arch=compute_100a,code=sm_100a
LIST
}

made_by() { case " ${want:-nvcc clang python} " in *" $1 "*) return 0 ;; esac; return 1; }
want="$*"

if made_by nvcc; then nvcc_jobs | xargs -P "$(nproc)" -L1 bash -c 'one "$@"' one; fi

if made_by clang; then
  c='clang-14 -x cuda --cuda-device-only -nocudainc -nocudalib -S -Wno-unknown-cuda-version -Xclang -target-feature -Xclang +ptx75 llvm.cu'
  $c --cuda-gpu-arch=sm_70 -O2 -o "$out/llvm_sm70.ptx"
  $c --cuda-gpu-arch=sm_80 -O0 -o "$out/llvm_O0.ptx"
  $c --cuda-gpu-arch=sm_80 -O1 -g --cuda-noopt-device-debug -o "$out/llvm_debug.ptx"
  for f in llvm_sm70 llvm_O0 llvm_debug; do strip "$out/$f.ptx"; done
fi

if made_by python; then
  for f in triton_kernels gluon_kernels pallas_kernels numba_kernels; do python3 "$f.py" "$out"; done
  for f in "$out"/{triton,gluon,pallas,numba}_*.ptx; do [ -e "$f" ] && strip "$f"; done
fi
