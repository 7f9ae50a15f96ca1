#!/bin/bash
# SPDX-License-Identifier: MIT
# Whether the release build carries its hardening, seen in the files that were built:
#
#     tests/check/hardening.sh [FOLDER]      build/release
#
# A shadow stack and indirect branch tracking are checked in our objects: the linker marks the
# program only where the C library's start files are marked as well, which Debian's are not.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

folder=${1-build/release}
program=$folder/blurd
failed=0
command -v readelf >/dev/null || { echo "no readelf" && exit 77; }
[ -x "$program" ] || { echo "no $program: run make" && exit 1; }

check() { # what, command...
    local what=$1
    shift
    if "$@"; then
        echo "ok    $what"
    else
        failed=1 && echo "FAIL  $what"
    fi
}

has() { # text of readelf, pattern
    grep -qE "$2" <<<"$1"
}

header=$(readelf -hW "$program")
segments=$(readelf -lW "$program")
dynamic=$(readelf -dW "$program")
symbols=$(readelf -sW --dyn-syms "$program")
flags=$(cat "$folder/flags")

every_object_is_marked() {
    local object status=0
    while read -r object; do
        [ -f "$(tmp=${object#"$folder"/} && echo "${tmp%.o}.c")" ] || continue # of a source that is gone
        readelf -nW "$object" 2>/dev/null | grep -q 'IBT, SHSTK' || { status=1 && echo "    $object is not marked"; }
    done < <(find "$folder"/core "$folder"/filters "$folder"/codecs "$folder"/cpu "$folder"/gpu "$folder"/config \
        "$folder"/server -name '*.o')
    return $status
}

no_writable_code() {
    ! grep -E '^ *LOAD' <<<"$segments" | grep -q 'RWE'
}

no_search_path() {
    ! has "$dynamic" 'RPATH|RUNPATH|TEXTREL'
}

check "marked PIE" has "$dynamic" 'Flags:.*PIE'
check "relocations are read-only" has "$segments" 'GNU_RELRO'
check "and complete at start" has "$dynamic" 'BIND_NOW|Flags: NOW'
check "stack is not executable" has "$segments" 'GNU_STACK .* RW +0x'
check "no segment is writable and executable" no_writable_code
check "no search path, no text relocations" no_search_path
check "stack protector" has "$symbols" '__stack_chk_fail'
check "checked library calls" has "$symbols" '_chk@'
check "flag -D_FORTIFY_SOURCE=3" has "$flags" '[-]D_FORTIFY_SOURCE=3'
check "flag -fstack-protector-strong" has "$flags" '[-]fstack-protector-strong'
check "flag -fstack-clash-protection" has "$flags" '[-]fstack-clash-protection'
if has "$header" 'X86-64'; then
    check "shadow stack and branch tracking (CET)" every_object_is_marked
fi
exit $failed
