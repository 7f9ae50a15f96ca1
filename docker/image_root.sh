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

libraries() { # paths, the loader included
    local name library
    ldd "$program" | grep -o '/[^ ]*'
    for library in $(opened); do
        echo "$library"
        ldd "$library" | grep -o '/[^ ]*'
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

libraries | sort -u | while read -r library; do
    to=$root/usr/${library#/}
    install -D -m 755 "$(realpath "$library")" "${to/#$root\/usr\/usr/$root/usr}"
    # Licences want their texts to come along, and scanners look for versions here.
    package=$(owner "$library")
    [ -f "$root/var/lib/dpkg/status.d/$package" ] && continue
    dpkg-query --status "$package" >"$root/var/lib/dpkg/status.d/$package"
    install -D -m 644 "/usr/share/doc/$package/copyright" "$root/usr/share/doc/$package/copyright"
done
install -D -m 644 LICENSE "$root/usr/share/doc/blurd/LICENSE"

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
