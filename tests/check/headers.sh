#!/bin/bash
# SPDX-License-Identifier: MIT
# Every header compiles alone: it includes what it needs. Templates, which need what their
# includer defines, say so in their first lines: "Included once per …" or "Included after …".
set -uo pipefail

# The GPU's headers need NVIDIA's, which the build looks for; before one there are none.
cuda=$(sed -n 's/^CUDA_INCLUDE := //p' build/cuda/*/cuda.mk 2>/dev/null | grep -m 1 .)
[ -n "$cuda" ] || echo "    no build yet, or one without CUDA headers: gpu/*.h are not compiled"

machine=$(${CC:-cc} -dumpmachine) # a few headers are for one processor
export cuda machine

compile() { # header...
    local header flags said status=0
    for header; do
        head -n 6 "$header" | grep -qE 'Included (once per|after) ' && continue
        case $header in # those of the optional formats' libraries, where they are installed
        codecs/*_library.h) grep '^#include <' "$header" | ${CC:-cc} -E -x c -o /dev/null - 2>/dev/null || continue ;;&
        *_sse2.h | *_avx*.h) [[ $machine == x86_64-* ]] || continue ;;&
        *_neon.h) [[ $machine == aarch64-* ]] || continue ;;&
        *avx2*) flags=-mavx2 ;;
        *avx512*) flags='-mavx512bw -mavx512vl -mavx512dq -mavx512vnni' ;;
        gpu/* | bench/gpu/*) [ -n "$cuda" ] || continue; flags=$cuda ;;
        *) flags= ;;
        esac
        # shellcheck disable=SC2086 # flags are words
        if ! said=$(${CC:-cc} -std=c11 -D_GNU_SOURCE -I. -Wall -Wextra -Werror -Wno-unused-function -Wno-unused-const-variable $flags \
            -fsyntax-only -x c - <<<"#include \"$header\"" 2>&1); then
            printf '    %s does not compile alone:\n%s\n' "$header" "$(head -n 3 <<<"$said")"
            status=1
        fi
    done
    return $status
}
export -f compile
tests/check/list.sh '*.h' | xargs -r -P "$(nproc)" -n 25 bash -c 'compile "$@"' -
