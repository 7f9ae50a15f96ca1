#!/bin/bash
# SPDX-License-Identifier: MIT
# The archive for hosts without packages: built on Debian 12, it runs where there is nothing but the C library of Debian 12
# and of 13, from any folder, and serves there as this tree's build does. `make check-archive` calls this.
#
#     tests/packages/archive.sh [ARCHIVE]      builds one without; exits with 77 where the tools are missing (config/packages.sh package)
set -euo pipefail
cd "$(dirname "$0")/../.."

name=archive
. tests/packages/common.sh
need debootstrap curl heif-enc unshare setpriv
work=$PWD/build/packages/archive
root=$work/root

# A root with the files of the package libc6 and no others: not even a shell.
bare_root() { # suite
    local base path
    base=$(tests/debian.sh "$1")
    rm -rf "$root" && mkdir -p "$root/usr" "$root/tmp" "$root/srv"
    cp -a "$base/lib" "$base/lib64" "$root/" # links
    while read -r path; do
        [ ! -d "$base$path" ] || continue
        mkdir -p "$root/usr$(dirname "${path#/usr}")"
        cp -a "$base$path" "$root/usr$(dirname "${path#/usr}")/"
    done < <(cat "$base"/var/lib/dpkg/info/libc6:*.list)
}

check_list() { # folder
    local path=share/doc/blurd/sbom.spdx.json
    config/pypi.sh packages
    tests/python.sh tests/packages/sbom.py "$1" $path || die "the list of what is packed"
}

check_suite() { # suite, archive
    local port outer folder=/srv/any/where
    bare_root "$1"
    mkdir -p "$root$folder"
    tar -C "$root$folder" --strip-components 1 -xJf "$2"
    chmod -R go+rX "$root/srv"
    port=$(free_port)
    inside 20 "$root" $folder/bin/blurd --version >"$work/version" || die "the program does not start on $1"
    check_models "$root$folder/share/blurd"
    grep -q "^face model: $folder/bin/../share/blurd/centerface.face" "$work/version" || die "the face model is not found"
    say "$1 with libc6 alone, $(find "$root" -type f ! -path "$root$folder/*" | wc -l) files: $(head -n 1 "$work/version")"
    (AS_NOBODY=1 inside 120 "$root" $folder/bin/blurd --config $folder/share/blurd/blurd.conf --listen 127.0.0.1 --port "$port" 2>"$work/daemon.log") &
    outer=$!
    await "$port" "$work/daemon.log"
    compare "$port" "$work"
    check_formats "$port" "$work"
    check_maps "$root$folder"
    stop "$outer" "$work/daemon.log"
}

# No other library than the C library's comes from that system.
check_maps() { # folder in the root
    local daemon others
    daemon=$(daemon_of "$outer")
    others=$(grep -o '/[^ ]*\.so[^ ]*' "/proc/$daemon/maps" | sort -u | grep -v '/srv/any/where/' |
        grep -vE '/(libc|libm|libdl|libpthread|librt|ld-linux-x86-64|ld-linux-aarch64)\.so\.[0-9]$' || true)
    [ -z "$others" ] || die "these come from the system: $others"
}

rm -rf "$work" && mkdir -p "$work"
trap finish EXIT
archive=${1-}
if [ -z "$archive" ]; then
    tree=$(tests/packages/build.sh bookworm archive)
    archive=$(ls "$tree"/build/archive/blurd-*.tar.xz)
fi
mkdir "$work/unpacked"
tar -C "$work/unpacked" --strip-components 1 -xJf "$archive"
say "$(basename "$archive"): $(stat -c %s "$archive") bytes, $(du -s --apparent-size --block-size=1 "$work/unpacked" | cut -f1) unpacked," \
    "$(find "$work/unpacked/lib" -name '*.so*' | wc -l) libraries"
check_list "$work/unpacked"
said=$(python3 tests/packages/kernels.py "$work/unpacked/bin/blurd") || die "its kernels are for other drivers than docs/packages.md says"
say "$said"
start_here "$work"
for suite in bookworm trixie; do
    check_suite $suite "$archive"
done
say "ok"
