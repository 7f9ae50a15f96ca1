#!/bin/bash
# SPDX-License-Identifier: MIT
# Finds the libraries of the optional formats, and writes what the Makefile needs to know about them.
#
#     codecs/formats.sh OUTPUT.mk "webp avif heif"
#
# A library counts when a compiler finds its header and the linker its shared object. The program opens it by its
# soname when the first such picture comes. This script never fails; OUTPUT.mk names the formats that were found.
set -u

out=$1
wanted=$2
cc=${CC:-cc}
found=() flags=()

soname() { # library: prints the name under which the loader knows it
    local file
    file=$($cc -print-file-name="lib$1.so")
    [ -e "$file" ] && readelf -d "$file" | sed -n 's/.*(SONAME).*\[\(.*\)\].*/\1/p'
}

look() { # format, header, libraries
    local format=$1 header=$2 library name defines=()
    echo "#include <$header>" | $cc -E -x c -o /dev/null - 2>/dev/null || return 1
    shift 2
    for library; do
        name=$(soname "$library")
        [ -n "$name" ] || return 1
        defines+=("-DLIB${library^^}='\"$name\"'")
    done
    found+=("$format")
    flags+=("${defines[@]}")
}

for format in $wanted; do
    case $format in
    webp) look webp webp/encode.h webp ;;
    avif) look avif avif/avif.h avif ;;
    heif) look heif libheif/heif.h heif ;;
    *) printf '  %-5s FORMATS names "%s"; it may name webp, avif and heif\n' NOTE "$format" >&2 ;;
    esac || printf '  %-5s build without %s: its library was not found\n' NOTE "$format" >&2
done
mkdir -p "$(dirname "$out")"
printf 'FORMATS_FOUND := %s\nFORMAT_FLAGS := %s\n' "${found[*]-}" "${flags[*]-}" >"$out.new"
mv "$out.new" "$out"
