#!/bin/bash
# SPDX-License-Identifier: MIT
# Prints the libraries that the program links or opens, one on each line: the path, a tab, and the Debian package that it
# is from. The image and the archive take their files from this list.
#
#     docker/libraries.sh PROGRAM FOLDER
#
# FOLDER gets the empty libraries that replace unused ones. Their lines have no package.
set -euo pipefail
export LC_ALL=C

program=$1 replaced=$2

# The libraries of the formats that the build has found, which the program opens by these names.
opened() {
    local name
    for name in $(sed -n 's/^FORMAT_FLAGS := //p' "$(dirname "$program")"/formats-*.mk | grep -o '"[^"]*"' | tr -d '"' | sort -u); do
        realpath --no-symlinks "$(gcc -print-file-name="$name")"
    done
    # libheif's decoder, where it is a plugin
    find "/usr/lib/$(gcc -print-multiarch)/libheif" -name 'libheif-libde265.so' 2>/dev/null || true
}

# The names of functions that a library has (--defined-only) or refers to (--undefined-only).
functions() {
    nm --dynamic --format=posix "$1" "$2" | sed -n 's/^\([A-Za-z0-9_]*\)[@ ].*/\1/p' | sort -u
}

# A library of the same name takes the place of an unused one. It has the functions that the user of the library refers to,
# and each ends the process.
replace() { # path of the user, its unused libraries
    local user=$1 name library
    shift
    for name; do
        library=$(ldd "$user" | grep -o "/[^ ]*/$name\.so[^ ]*") || continue
        comm -12 <(functions --undefined-only "$user") <(functions --defined-only "$library") |
            sed 's/.*/void &(void);\nvoid &(void) { __builtin_trap(); }/' |
            gcc -x c -Os -shared -fPIC -nostdlib -s -Wl,-soname,"$(basename "$library")" -o "$replaced/$(basename "$library")" -
    done
}

# libavif is linked with four AV1 libraries. blurd decodes by dav1d and encodes by aom; the other three, 10 MB, would only
# be loaded. blurd names its encoder, and libavif prefers dav1d for decoding. Debian 12's libheif is linked with x265, 15 MB
# under the GPL, and blurd does not write HEIC. libtiff is linked with codecs of compressions that blurd refuses, one of them GPL.
replace_unused() {
    local library needed
    for library in $(opened); do
        needed=$(ldd "$library") # not into grep -q, which may end before ldd has written all
        case $library in
        */libavif.so*) ! [[ $needed == */libdav1d.so* && $needed == */libaom.so* ]] || replace "$library" libSvtAv1Enc librav1e libgav1 ;;
        */libheif.so*) replace "$library" libx265 ;;
        */libtiff.so*) replace "$library" libLerc libjbig ;;
        esac
    done
}

# Paths of all libraries that one needs; those that are replaced need none.
needs() {
    LD_LIBRARY_PATH=$replaced ldd "$1" | grep -o '/[^ ]*'
}

# The package of a library. The path may lead through /lib, which is a link to /usr/lib, or not; and where a package
# diverts a file, which Debian 13's libc6 does with the loader, there is a line that says so, too.
owner() {
    dpkg-query --search "$1" "/usr$1" "${1#/usr}" 2>/dev/null | sed -n '/^diversion /!{s/:.*//p;q}' || true
}

all() { # paths, the loader included
    local library
    needs "$program"
    for library in $(opened); do
        echo "$library"
        needs "$library"
    done
}

replace_unused
all | sort -u | while read -r library; do
    case $library in
    "$replaced"/*) printf '%s\t\n' "$library" ;;
    *) printf '%s\t%s\n' "$library" "$(owner "$library")" ;;
    esac
done
