#!/bin/bash
# SPDX-License-Identifier: MIT
# Makes the root of the image: the program, the libraries that it links or opens, what Debian says about them, and the list
# of all of it (docker/sbom.py).
#
#     docker/image_root.sh PROGRAM FOLDER [NVRTC]
#
# NVRTC=yes adds the compiler for GPU programs that the build has found.
set -euo pipefail

program=$1 root=$2 nvrtc=${3-no}
here=$(dirname "$0")

# Those that NVIDIA's driver is linked with, which is mounted into the container, and the program is not.
driver_needs='libdl.so.2 libpthread.so.0 librt.so.1 libm.so.6'

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/replaced"

libraries() { # lines of libraries.sh
    local name libc
    "$here/libraries.sh" "$program" "$scratch/replaced"
    libc=$(ldd "$program" | grep -o '/[^ ]*/libc\.so\.6')
    for name in $driver_needs; do
        printf '%s\tlibc6\n' "$(dirname "$libc")/$name"
    done
}

add() { # file, path in the root, package: notes whose it is
    install -D -m 755 "$1" "$root$2"
    printf '%s\t%s\n' "${2#/}" "$3" >>"$scratch/owners"
}

# Licences want their texts to come along, and scanners look for versions here.
add_package() {
    local package=$1
    [ ! -f "$root/var/lib/dpkg/status.d/$package" ] || return 0
    dpkg-query --status "$package" >"$root/var/lib/dpkg/status.d/$package"
    install -D -m 644 "/usr/share/doc/$package/copyright" "$root/usr/share/doc/$package/copyright"
    printf '%s\t%s\n' "var/lib/dpkg/status.d/$package" "$package" "usr/share/doc/$package/copyright" "$package" >>"$scratch/owners"
}

mkdir -p "$root"/{dev,proc,sys,tmp,etc,usr/lib,usr/lib64,usr/share/doc,var/lib/dpkg/status.d}
ln -s usr/lib "$root/lib" && ln -s usr/lib64 "$root/lib64"
install -D -s -m 755 "$program" "$root/usr/local/bin/blurd"

libraries | sort -u | while IFS=$'\t' read -r library package; do
    if [ -z "$package" ]; then
        install -D -m 755 "$library" "$root/usr/lib/$(gcc -print-multiarch)/$(basename "$library")"
        continue
    fi
    to=/usr/${library#/}
    add "$(realpath "$library")" "${to/#\/usr\/usr//usr}" "$package"
    add_package "$package"
done
install -D -m 644 LICENSE "$root/usr/share/doc/blurd/LICENSE"
detect/install.sh build/models "$root/usr/local/share/blurd"
if [ -f build/codes/libblurd-zxing.so ]; then
    install -D -m 644 -t "$root/usr/local/lib/blurd" build/codes/libblurd-zxing.so detect/codes/zxing.copyright
fi

if [ "$nvrtc" = yes ]; then
    library=$(sed -n 's/^NVRTC := //p' build/cuda/*/cuda.mk)
    [ -n "$library" ] || { echo "image_root: the build has found no NVRTC" >&2 && exit 1; }
    # It opens a second one, by the name with the toolkit's version.
    for part in "$library" $(find "$(dirname "$library")/" -regex '.*/libnvrtc-builtins\.so\.[0-9]+\.[0-9]+'); do
        add "$part" "/usr/lib/$(gcc -print-multiarch)/$(basename "$part")" nvrtc
    done
fi

# debian_version tells NVIDIA's toolkit where the driver's libraries are looked for.
cp /etc/debian_version /etc/os-release "$root/etc/"
echo 'nobody:x:65534:65534:nobody:/:/usr/sbin/nologin' >"$root/etc/passwd"
echo 'nogroup:x:65534:' >"$root/etc/group"
chmod 1777 "$root/tmp"
"$here/sbom.py" "$root" "$scratch/owners" usr/share/doc/blurd/sbom.spdx.json
