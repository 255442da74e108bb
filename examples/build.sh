#!/bin/bash
# build.sh FOLDER...: compiles a folder's kernel and its twins to PTX, as nvcc 13
# does; of the names of source files only the last part is kept. A twin is the
# same source with one BUG_… defined.
set -e
cd "$(dirname "$0")"
compile() { # source, PTX, options
  nvcc -O3 -std=c++17 -lineinfo -ptx -gencode arch=compute_90a,code=sm_90a "${@:3}" "$1" -o "$2"
  sed -i -E 's|(\.file\s+[0-9]+ ")[^"]*/|\1|' "$2"
}
for folder; do
  source=$folder/$folder.cu
  compile "$source" "$folder/$folder.ptx" &
  for bug in $(grep -oE 'BUG_[A-Z_]+' "$source" | sort -u); do
    name=${bug#BUG_}
    compile "$source" "$folder/broken_${name,,}.ptx" "-D$bug" &
  done
done
for job in $(jobs -p); do wait "$job"; done
