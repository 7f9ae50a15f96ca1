#!/bin/bash
# SPDX-License-Identifier: MIT
# Finds the libraries of the optional formats, and writes what the Makefile needs to know about them.
#
#     codecs/formats.sh OUTPUT.mk "webp avif heif tiff"
#
# A library counts when a compiler finds its header and the linker its shared object. The program opens it by its
# soname when the first such picture comes. This script never fails; OUTPUT.mk names the formats that were found, and
# the files of the others, but for their rows in the table of codecs.
set -u

out=$1
wanted=$2
cc=${CC:-cc}
rows=$(sed -nE 's/^(READ_)?FORMAT\(\w+, (\w+), (\w+), ([^ ]+), .*/\2 \3 \4/p' "$(dirname "$0")/formats.def")
found=() flags=() left_out=()

is_among() { # word, words
    [[ " $2 " == *" $1 "* ]]
}

soname() { # library: prints the name under which the loader knows it
    local file
    file=$($cc -print-file-name="lib$1.so")
    [ -e "$file" ] && readelf -d "$file" | sed -n 's/.*(SONAME).*\[\(.*\)\].*/\1/p'
}

look() { # library, header
    local name
    echo "#include <$2>" | $cc -E -x c -o /dev/null - 2>/dev/null || return 1
    name=$(soname "$1")
    [ -n "$name" ] || return 1
    found+=("$1")
    flags+=("-DLIB${1^^}='\"$name\"'")
}

while read -r folder library header; do
    if is_among "$library" "$wanted"; then
        look "$library" "$header" && continue
        printf '  %-5s build without %s: its library was not found\n' NOTE "$library" >&2
    fi
    left_out+=("codecs/$folder/${folder}_%.c")
done <<<"$rows"
known=$(awk '{ print $2 }' <<<"$rows" | xargs)
for library in $wanted; do
    is_among "$library" "$known" || printf '  %-5s FORMATS names "%s"; it may name %s\n' NOTE "$library" "$known" >&2
done
mkdir -p "$(dirname "$out")"
printf 'FORMATS_FOUND := %s\nFORMAT_FLAGS := %s\nNO_FORMAT := %s\n' "${found[*]-}" "${flags[*]-}" "${left_out[*]-}" >"$out.new"
mv "$out.new" "$out"
