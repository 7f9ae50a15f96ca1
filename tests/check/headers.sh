#!/bin/bash
# SPDX-License-Identifier: MIT
# Every header compiles alone: it includes what it needs. Templates, which need what their
# includer defines, say so in their first lines: "Included once per …" or "Included after …".
set -uo pipefail

# Some headers need NVIDIA's, which the build looks for; before one there are none.
cuda=$(sed -n 's/^CUDA_INCLUDE := //p' build/cuda/*/cuda.mk 2>/dev/null | grep -m 1 .)
echo '#include <cuda.h>' | ${CC:-cc} $cuda -E -x c -o /dev/null - 2>/dev/null && has_cuda=yes ||
    echo "    no build yet, or one without CUDA headers: headers that need them are not compiled"

machine=$(${CC:-cc} -dumpmachine) # a few headers are for one processor
export cuda has_cuda machine

lacks_cuda() { # header: whether it needs cuda.h, itself or by another header, which is not there
    [ -z "${has_cuda-}" ] && ${CC:-cc} -D_GNU_SOURCE -I. -M -MG -x c - <<<"#include \"$1\"" 2>/dev/null | grep -qE '(^| )cuda\.h( |$)'
}

compile() { # header...
    local header flags said status=0
    for header; do
        head -n 6 "$header" | grep -qE 'Included (once per|after) ' && continue
        flags=$cuda
        case $header in # those of the optional formats' libraries, where they are installed
        codecs/*_library.h) grep '^#include <' "$header" | ${CC:-cc} -E -x c -o /dev/null - 2>/dev/null || continue ;;&
        *sse2.h | *avx*.h | *amx*.h) [[ $machine == x86_64-* ]] || continue ;;&
        *neon.h) [[ $machine == aarch64-* ]] || continue ;;&
        *avx2*) flags=-mavx2 ;;
        *avx512*) flags='-mavx512bw -mavx512vl -mavx512dq -mavx512vnni' ;;
        esac
        lacks_cuda "$header" && continue
        # shellcheck disable=SC2086 # flags are words
        if ! said=$(${CC:-cc} -std=c11 -D_GNU_SOURCE -I. -Wall -Wextra -Werror -Wno-unused-function -Wno-unused-const-variable $flags \
            -fsyntax-only -x c - <<<"#include \"$header\"" 2>&1); then
            printf '    %s does not compile alone:\n%s\n' "$header" "$(head -n 3 <<<"$said")"
            status=1
        fi
    done
    return $status
}
export -f compile lacks_cuda
tests/check/list.sh '*.h' | xargs -r -P "$(nproc)" -n 25 bash -c 'compile "$@"' -
