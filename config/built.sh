#!/bin/bash
# SPDX-License-Identifier: MIT
# Tells what a build has and what it lacks, why, and how to get it. `make run` ends with this.
#
#     config/built.sh PROGRAM CUDA_FOLDER MODELS_FOLDER "FORMATS WANTED" "FORMATS FOUND"
#
# What the program has, its own `--version` tells. Why it lacks a thing is in the folders in which the build looked for it
# (gpu/cuda/cuda_headers.sh, detect/fetch.sh).
set -euo pipefail

program=$1 cuda=$2 models=$3 wanted=$4 found=$5 codes=$6
version=$("$program" --version)
support=$(sed -n '1s/^[^(]*(\(.*\))$/\1/p' <<<"$version")

part() { # what, how it is
    printf '  %-8s %s\n' "$@"
}

lacks() { # what, why, how to get it
    part "$1" "NOT BUILT: $2"
    part '' "To get it: $3"
}

online='let pip reach a package index (PIP_INDEX_URL, HTTPS_PROXY), or see docs/packages.md#without-a-package-index; then'

printf '\nBuilt %s:\n' "$program"
part formats "$(sed -n 2p <<<"$version")"
for format in $wanted; do
    [[ " $found " == *" $format "* ]] || lacks "$format" 'its library was not found' "config/packages.sh build && rm -f build/*/formats-*.mk && make run"
done
case $support in
'CPU only') lacks GPUs "$(sed -n '1s/^# \(CPU-only: \)\?//p' "$cuda/cuda.mk")" "$online rm -r $cuda && make run" ;;
*'no kernels'*) lacks kernels "$(cat "$cuda/no-nvrtc" 2>/dev/null || echo 'there is no NVRTC'). They are compiled at the start on hosts that have NVRTC" \
    "$online rm -r $cuda && make run" ;;
*) part GPUs "$support" ;;
esac
while read -r name option _; do
    model=$(sed -n "s/^${option/-/ }: //p" <<<"$version")
    case $model in
    '') ;; # the program does not search for these
    none) lacks "$name" "$(cat "$models/without-$name" 2>/dev/null || echo 'there is no model'). Requests with detect=$name get 400" "$online rm -r $models && make run" ;;
    *) part "$name" "$model" ;;
    esac
done < <(grep -v '^#' "$(dirname "$0")/../detect/models.txt")
if [ -f "$codes/libblurd-zxing.so" ]; then
    part codes zxing-cpp
else
    lacks codes "$(cat "$codes/without" 2>/dev/null || echo 'there is no reader'). Requests with detect=codes get 400" "$online rm -r $codes && make run"
fi
