#!/bin/bash
# SPDX-License-Identifier: MIT
# Makes a small Debian in build/debian/SUITE, once, and prints its path. Copy it, do not change it.
#
#     tests/debian.sh [SUITE]     bookworm, trixie; this machine's own without
set -euo pipefail
cd "$(dirname "$0")/.."

suite=${1-$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)}
folder=$PWD/build/debian
root=$folder/$suite

if [ ! -d "$root" ]; then
    echo "debian: debootstrap of $suite, once" >&2
    rm -rf "$root.new" && mkdir -p "$folder"
    debootstrap --variant=minbase --include=ca-certificates "$suite" "$root.new" >"$folder/$suite.log" 2>&1 ||
        { tail -n 5 "$folder/$suite.log" >&2 && exit 1; }
    rm -rf "$root.new"/var/cache/apt/archives/*.deb "$root.new"/var/lib/apt/lists/*
    # Whom this machine trusts: a proxy may stand between it and the world.
    cp /usr/local/share/ca-certificates/*.crt "$root.new/usr/local/share/ca-certificates/" 2>/dev/null || true
    chroot "$root.new" update-ca-certificates >>"$folder/$suite.log" 2>&1
    mv "$root.new" "$root"
fi
echo "$root"
