#!/bin/bash
# SPDX-License-Identifier: MIT
# Chooses among the kernels of architectures.def those that this machine needs, and writes what the Makefile needs to know.
#
#     gpu/cuda/architectures.sh OUTPUT.mk
#
# These are the machine code for each GPU that nvidia-smi lists, and PTX, which runs on all. Without a GPU it is PTX alone.
# Packages have all of architectures.def. This script never fails; remove OUTPUT.mk to look again.
set -u

out=$1
table=$(dirname "$0")/architectures.def
chosen=$(sed -n 's/^PTX(\(.*\))/compute_\1.ptx/p' "$table")

newest_for() { # 89 for compute capability 8.9: code runs on the same major number with the same or a later minor one
    local number best=
    for number in $(sed -n 's/^CUBIN(\(.*\))/\1/p' "$table"); do
        [ $((number / 10)) != $(($1 / 10)) ] || [ "$number" -gt "$1" ] || best="sm_$number.cubin"
    done
    echo "$best"
}

for capability in $(timeout 20 nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -d . | grep -x '[0-9]\+' | sort -un); do
    chosen="$(newest_for "$capability") $chosen"
done
# shellcheck disable=SC2086 # names are words
printf 'OWN_KERNELS := %s\n' "$(printf '%s\n' $chosen | sort -u | xargs)" >"$out.new"
mv "$out.new" "$out"
