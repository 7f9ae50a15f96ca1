#!/bin/bash
# SPDX-License-Identifier: MIT
# Static analysis of the program's own code, as `make tidy`: gcc -fanalyzer, clang's analyzer,
# clang-tidy (.clang-tidy), cppcheck. All must be silent but for what tests/check/analyze.known
# lists with its reason. A tool that is absent is skipped and named. Takes some minutes.
#
#     tests/check/analyze.sh [gcc|clang|tidy|cppcheck]...
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

jobs=$(nproc)
cuda=$(sed -n 's/^CUDA_INCLUDE *:= *//p' build/cuda/*/cuda.mk 2>/dev/null | head -n 1)
flags="-DSTATIC_ANALYSIS -std=c11 -D_GNU_SOURCE -I. -pthread -Ibuild/release $cuda"
sources=$(git ls-files 'core/*.c' 'filters/*.c' 'codecs/*.c' 'cpu/*.c' 'config/*.c' 'server/*.c')
if [ -n "$cuda" ]; then
    sources+=" $(git ls-files 'gpu/*.c' 'filters/*/gpu/*.c' | grep -v none)"
else
    sources+=" $(git ls-files 'gpu/*none.c')"
fi
failed=0

simd_flags() { # file: what the Makefile adds for it
    case $1 in
    *_avx2.c) echo -mavx2 ;;
    *_avx512.c | *_amx.c) echo -mavx512bw -mavx512vl -mavx512dq ;;
    esac
}
export -f simd_flags

# Lines `file:line:column: warning: text [check]` that are not known, each once.
unknown() {
    local line file check known
    grep -E '^[^ ]+:[0-9]+:[0-9]+: (warning|error): ' | sed "s|^$PWD/||; s|^\./||" | sort -u | while IFS= read -r line; do
        file=${line%%:*}
        check=${line##*[} && check=${check%]}
        known=0
        while read -r path name _; do
            [ "$path" = "$file" ] && [[ $name = '*' || $check = *"$name" ]] && known=1
        done <tests/check/analyze.known
        [ $known = 1 ] || printf '%s\n' "$line"
    done
}

report() { # tool, file with its output
    local left
    left=$(unknown <"$2")
    if [ -n "$left" ]; then
        failed=1
        echo "FAIL  $1" && echo "$left"
    else
        echo "ok    $1"
    fi
    rm -f "$2"
}

run() { # tool, command for one file (in $1)
    local tool=$1 output
    command -v "$2" >/dev/null || { echo "skip  $tool: no $2" && return; }
    output=$(mktemp)
    # shellcheck disable=SC2016
    printf '%s\n' $sources | FLAGS=$flags xargs -P "$jobs" -I{} bash -c "$3" _ {} >"$output" 2>&1
    report "$tool" "$output"
}

each() {
    case $1 in
    gcc) run "gcc -fanalyzer" gcc 'gcc $FLAGS $(simd_flags "$1") -O1 -fanalyzer -Wno-unknown-pragmas -c -o /dev/null "$1"' ;;
    clang) run "clang --analyze" clang 'clang $FLAGS $(simd_flags "$1") --analyze -Xclang -analyzer-output=text "$1" -o /dev/null' ;;
    tidy) run "clang-tidy" clang-tidy 'clang-tidy --quiet "$1" -- $FLAGS $(simd_flags "$1") 2>/dev/null' ;;
    cppcheck) run "cppcheck" cppcheck 'cppcheck --quiet --std=c11 --enable=warning,performance,portability --inline-suppr \
        --suppress=missingInclude --suppress=unmatchedSuppression -I. -D__x86_64__ -DSTATIC_ANALYSIS "$1"' ;;
    *) echo "no such tool: $1" && failed=1 ;;
    esac
}

[ $# -gt 0 ] || set -- gcc clang tidy cppcheck
for tool in "$@"; do
    each "$tool"
done
exit $failed
