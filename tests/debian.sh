#!/bin/bash
# SPDX-License-Identifier: MIT
# Makes a small Debian in build/debian, once, and prints its path. Copy it, do not change it. apt has the updates of security there, too.
#
#     tests/debian.sh [SUITE [ARCHITECTURE]]     bookworm, trixie; this machine's own without. arm64 needs an emulator (docker/release/emulated.sh)
set -euo pipefail
cd "$(dirname "$0")/.."

suite=${1-$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)}
name=$suite${2+-$2}
folder=$PWD/build/debian
root=$folder/$name
log=$folder/$name.log
updates=etc/apt/sources.list.d/updates.list

if [ ! -e "$root/$updates" ]; then
    echo "debian: debootstrap of $name, once" >&2
    rm -rf "$root" "$root.new" && mkdir -p "$folder"
    debootstrap ${2+--arch "$2"} --variant=minbase --include=ca-certificates "$suite" "$root.new" >"$log" 2>&1 || { tail -n 5 "$log" >&2 && exit 1; }
    # On the same server as the release; another path than debian is a mirror's own, and may have no security.
    sed -n "s|^deb \(.*\)/debian/\? $suite main.*|deb \1/debian-security $suite-security main\ndeb \1/debian $suite-updates main|p" \
        "$root.new/etc/apt/sources.list" >"$root.new/$updates"
    rm -rf "$root.new"/var/cache/apt/archives/*.deb "$root.new"/var/lib/apt/lists/*
    # Whom this machine trusts: a proxy may stand between it and the world.
    cp /usr/local/share/ca-certificates/*.crt "$root.new/usr/local/share/ca-certificates/" 2>/dev/null || true
    chroot "$root.new" update-ca-certificates >>"$log" 2>&1
    mv "$root.new" "$root"
fi
echo "$root"
