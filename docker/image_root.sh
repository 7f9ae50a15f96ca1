#!/bin/bash
# SPDX-License-Identifier: MIT
# Makes the root of the image: the program, the libraries that it links or opens, and what Debian says about them.
#
#     docker/image_root.sh PROGRAM FOLDER [NVRTC]
#
# NVRTC=yes adds the compiler for GPU programs that the build has found.
set -euo pipefail

program=$1 root=$2 nvrtc=${3-no}

# Those that NVIDIA's driver is linked with, which is mounted into the container, and the program is not.
driver_needs='libdl.so.2 libpthread.so.0 librt.so.1 libm.so.6'

# The libraries of the formats that the build has found, which the program opens by these names.
opened() {
    local name
    for name in $(sed -n 's/^FORMAT_FLAGS := //p' "$(dirname "$program")"/formats-*.mk | grep -o '"[^"]*"' | tr -d '"' | sort -u); do
        realpath --no-symlinks "$(gcc -print-file-name="$name")"
    done
    # libheif's decoder, where it is a plugin
    find "/usr/lib/$(gcc -print-multiarch)/libheif" -name 'libheif-libde265.so' 2>/dev/null || true
}

# libavif is linked with four AV1 libraries. blurd decodes by dav1d and encodes by aom; the other three, 10 MB, would only
# be loaded. A library of the same name takes the place of each: it has the functions that libavif refers to, and each
# ends the process. blurd names its encoder, and libavif prefers dav1d for decoding.
unused='libSvtAv1Enc librav1e libgav1'
replaced=$(mktemp -d)
trap 'rm -rf "$replaced"' EXIT

# The names of functions that a library has (--defined-only) or refers to (--undefined-only).
functions() {
    nm --dynamic --format=posix "$1" "$2" | sed -n 's/^\([A-Za-z0-9_]*\)[@ ].*/\1/p' | sort -u
}

replace_unused() {
    local avif name library
    avif=$(opened | grep '/libavif\.so') || return 0
    ldd "$avif" | grep -q '/libdav1d\.so' && ldd "$avif" | grep -q '/libaom\.so' || return 0
    for name in $unused; do
        library=$(ldd "$avif" | grep -o "/[^ ]*/$name\.so[^ ]*") || continue
        comm -12 <(functions --undefined-only "$avif") <(functions --defined-only "$library") |
            sed 's/.*/void &(void);\nvoid &(void) { __builtin_trap(); }/' |
            gcc -x c -Os -shared -fPIC -nostdlib -s -Wl,-soname,"$(basename "$library")" -o "$replaced/$(basename "$library")" -
    done
}

# Paths of all libraries that one needs; those that are replaced need none.
needs() {
    LD_LIBRARY_PATH=$replaced ldd "$1" | grep -o '/[^ ]*'
}

libraries() { # paths, the loader included
    local name library
    needs "$program"
    for library in $(opened); do
        echo "$library"
        needs "$library"
    done
    for name in $driver_needs; do
        echo "$(dirname "$(ldd "$program" | grep -o '/[^ ]*/libc\.so\.6')")/$name"
    done
}

# The package of a library. The path may lead through /lib, which is a link to /usr/lib, or not; and where a package
# diverts a file, which Debian 13's libc6 does with the loader, there is a line that says so, too.
owner() {
    dpkg-query --search "$1" "/usr$1" "${1#/usr}" 2>/dev/null | sed -n '/^diversion /!{s/:.*//p;q}' || true
}

mkdir -p "$root"/{dev,proc,sys,tmp,etc,usr/lib,usr/lib64,usr/share/doc,var/lib/dpkg/status.d}
ln -s usr/lib "$root/lib" && ln -s usr/lib64 "$root/lib64"
install -D -s -m 755 "$program" "$root/usr/local/bin/blurd"

replace_unused
libraries | sort -u | while read -r library; do
    case $library in "$replaced"/*)
        install -D -m 755 "$library" "$root/usr/lib/$(gcc -print-multiarch)/$(basename "$library")"
        continue
        ;;
    esac
    to=$root/usr/${library#/}
    install -D -m 755 "$(realpath "$library")" "${to/#$root\/usr\/usr/$root/usr}"
    # Licences want their texts to come along, and scanners look for versions here.
    package=$(owner "$library")
    [ -f "$root/var/lib/dpkg/status.d/$package" ] && continue
    dpkg-query --status "$package" >"$root/var/lib/dpkg/status.d/$package"
    install -D -m 644 "/usr/share/doc/$package/copyright" "$root/usr/share/doc/$package/copyright"
done
install -D -m 644 LICENSE "$root/usr/share/doc/blurd/LICENSE"
if [ -f build/face/centerface.face ]; then
    install -D -m 644 -t "$root/usr/local/share/blurd" build/face/centerface.face detect/centerface.copyright
fi

if [ "$nvrtc" = yes ]; then
    library=$(sed -n 's/^NVRTC := //p' build/cuda/*/cuda.mk)
    [ -n "$library" ] || { echo "image_root: the build has found no NVRTC" >&2 && exit 1; }
    # It opens a second one, by the name with the toolkit's version.
    for part in "$library" $(find "$(dirname "$library")/" -regex '.*/libnvrtc-builtins\.so\.[0-9]+\.[0-9]+'); do
        install -m 755 "$part" "$root/usr/lib/$(gcc -print-multiarch)/$(basename "$part")"
    done
fi

# debian_version tells NVIDIA's toolkit where the driver's libraries are looked for.
cp /etc/debian_version /etc/os-release "$root/etc/"
echo 'nobody:x:65534:65534:nobody:/:/usr/sbin/nologin' >"$root/etc/passwd"
echo 'nogroup:x:65534:' >"$root/etc/group"
chmod 1777 "$root/tmp"
