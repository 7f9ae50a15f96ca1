#!/bin/bash
# SPDX-License-Identifier: MIT
# The tree is as clang-format 14 leaves it. Other versions break lines elsewhere. Files that are still to be formatted are in
# format.known: each of them costs a compilation of all kernels.
set -uo pipefail

tool=$(command -v clang-format-14 || command -v clang-format) || { echo "    no clang-format"; exit 77; }
case $("$tool" --version) in
*"version 14."*) ;;
*) echo "    clang-format 14 is needed, this is $("$tool" --version)"; exit 77 ;;
esac
unformatted() { # file...: counts the places of each file that clang-format would change
    "$tool" --dry-run "$@" 2>&1 | sed -n 's/:.*code should be clang-formatted.*//p' | sort | uniq -c
}
export -f unformatted
export tool
wrong=$(tests/check/list.sh '*.c' '*.h' '*.cu' '*.cuh' | xargs -r -P "$(nproc)" -n 100 bash -c 'unformatted "$@"' -)
new=$(grep . <<<"$wrong" | grep -vF -f <(grep . tests/check/format.known) <<<"$wrong")
[ -z "${STAGED-}" ] && gone=$(grep . tests/check/format.known | while read -r file; do grep -q " $file$" <<<"$wrong" || echo "$file"; done)
[ -z "$new" ] || printf '%s\n    run make format\n' "$new"
[ -z "${gone-}" ] || printf '    formatted by now, remove it from tests/check/format.known: %s\n' $gone
[ -z "$new${gone-}" ]
