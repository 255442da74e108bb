#!/bin/bash
# Asks ptxas about each form of forms.txt.gz, in the folder of this script, on all processors,
# and writes OUTDIR/answers.txt: the form's number, and "+" or "- " with the first complaint.
#
#	forms.sh OUTDIR
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=${1:?usage: forms.sh OUTDIR}
mkdir -p "$out"
ptxas=${PTXAS:-$(command -v ptxas || echo /usr/local/cuda/bin/ptxas)}
export ptxas here
"$ptxas" --version | tail -2 >"$out/version.txt"
work=$(mktemp -d -p "$(test -w /dev/shm && echo /dev/shm || echo /tmp)")
trap 'rm -rf "$work"' EXIT
jobs=${JOBS:-$(nproc)}
gzip -dc "$here/forms.txt.gz" | split -n "r/$((jobs * 8))" - "$work/part."
ask() {
	part=$1
	head=$(cat "$here/head.ptx")
	while IFS=$'\t' read -r n target _ line; do
		printf '.version 9.0\n.target %s\n%s\n%s\nret;\n}\n' "$target" "$head" "$line" >"$part.ptx"
		if said=$("$ptxas" -O0 -arch="$target" "$part.ptx" -o /dev/null 2>&1); then
			printf '%s\t+\n' "$n"
		else
			said=${said%%$'\n'*}
			printf '%s\t- %s\n' "$n" "${said#*; }"
		fi
	done <"$part" >"$part.out"
}
export -f ask
ls "$work"/part.* | xargs -P "$jobs" -I{} bash -c 'ask {}'
cat "$work"/part.*.out | sort -n >"$out/answers.txt"
wc -l <"$out/answers.txt"
