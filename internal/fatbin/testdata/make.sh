#!/bin/sh
# Makes what the tests of this package read, with nvcc 13.0 and its cuobjdump.
set -ex
unset NVCC_APPEND_FLAGS
P="-gencode arch=compute_90a,code=[sm_90a,compute_90a]"
for mode in speed none size; do
	nvcc $P -Xfatbin -compress-mode=$mode -fatbin -o $mode.fatbin two.cu
done
mv speed.fatbin lz4.fatbin
nvcc -gencode arch=compute_80,code=compute_80 -gencode arch=compute_90a,code=compute_90a -gencode arch=compute_100a,code=sm_100a -fatbin -o three.fatbin two.cu
nvcc -gencode arch=compute_90a,code=sm_90a -fatbin -o cubin.fatbin two.cu
nvcc $P -c -o two.o two.cu
nvcc $P -rdc=true -cudart none -shared -Xcompiler -fPIC -o librdc.so other.cu third.cu -Xlinker --unresolved-symbols=ignore-all
for f in lz4.fatbin three.fatbin librdc.so two.o; do
	cuobjdump -ptx $f >$f.txt
done
