#!/bin/bash
# SPDX-License-Identifier: MIT
# Packs the program with all libraries but the C library's, for hosts without packages. It runs from any folder, on a host
# whose C library is as new as this one's. `make archive` calls this.
#
#     docker/archive.sh PROGRAM FOLDER      FOLDER/blurd-VERSION-linux-ARCHITECTURE.tar.xz
#
# PROGRAM looks for libraries in ../lib first (bench/gpu/rules.mk). The same input gives the same bytes.
set -euo pipefail
cd "$(dirname "$0")/.."
umask 022
export LC_ALL=C

program=$1 out=$2
version=$(sed -n 's/^#define BLURD_VERSION "\(.*\)"/\1/p' core/version.h)
name=blurd-$version-linux-$(dpkg --print-architecture)
prefix=/opt/blurd # where the units look for the program
date=$(docker/source_date.sh)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/replaced" "$out"
root=$scratch/$name

install_program() {
    MAKEFLAGS='' make --no-print-directory install DESTDIR="$scratch/tree" PREFIX=$prefix >/dev/null
    mv "$scratch/tree$prefix" "$root"
    install -s -m 755 "$program" "$root/bin/blurd"
}

install_libraries() {
    local library package
    docker/libraries.sh build/release/blurd "$scratch/replaced" | while IFS=$'\t' read -r library package; do
        [ "$package" != libc6 ] || continue # must be the host's, like its loader
        case $library in */libheif/*)
            echo "archive: without HEIC, whose decoder is a plugin here; Debian 12 has it in libheif" >&2
            continue
            ;;
        esac
        install -m 644 "$library" "$root/lib/$(basename "$library")"
        [ -n "$package" ] || continue
        install -D -m 644 "/usr/share/doc/$package/copyright" "$root/share/doc/$package/copyright"
        printf '%s\t%s\n' "lib/$(basename "$library")" "$package" "share/doc/$package/copyright" "$package"
    done | sort -u >"$scratch/owners"
}

write_readme() {
    cat >"$root/README" <<README
blurd $version for $(uname -s) on $(dpkg --print-architecture), with the libraries that it uses, from $(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release).

bin/blurd finds its libraries in lib/ and the models of detectors in share/blurd/, wherever this folder lies.
share/blurd/blurd.conf is a configuration to start from. The units in lib/systemd/system expect this folder at $prefix.
share/doc/blurd/sbom.spdx.json lists what is in here, with versions, licences and checksums.
README
}

install_program
install_libraries
write_readme
SOURCE_DATE_EPOCH=$date docker/sbom.py "$root" "$scratch/owners" share/doc/blurd/sbom.spdx.json
tar -C "$scratch" --format=gnu --sort=name --mtime="@$date" --owner=0 --group=0 --numeric-owner --mode=u+rw,go=rX -c "$name" |
    xz --threads=1 --check=crc64 -6 >"$out/$name.tar.xz"
printf '%s, %d KiB\n' "$out/$name.tar.xz" $(($(stat -c %s "$out/$name.tar.xz") / 1024))
