#!/bin/bash
# SPDX-License-Identifier: MIT
# Makes build/deb/blurd_VERSION_ARCHITECTURE.deb of build/release/blurd with Debian's debhelper, and beside it the list of what is in
# it (docker/sbom.py). `make deb` calls this.
# The version ends with that of the Debian, as 1.0.0+deb12u1: an upgrade of Debian brings the package that is built for the newer one.
# The package does not build from source in Debian's way: NVIDIA's headers and compiler are not in Debian.
set -euo pipefail
umask 022
cd "$(dirname "$0")/../.."

SOURCE=$PWD
SOURCE_DATE_EPOCH=$(docker/source_date.sh) # no file in the package is younger: the same input gives the same bytes
export SOURCE SOURCE_DATE_EPOCH
tree=build/deb/tree
rm -rf build/deb/tree build/deb/*.deb build/deb/*.json
mkdir -p "$tree"
cp -r docker/debian "$tree/debian"

version=$(sed -n 's/^#define BLURD_VERSION "\(.*\)"/\1/p' core/version.h)
[ "$(dpkg-parsechangelog -l docker/debian/changelog -S Version)" = "$version" ] ||
    { echo "deb: docker/debian/changelog is not for version $version" >&2 && exit 1; }
sed -i "1s/($version)/($version+deb$(sed -n 's/^VERSION_ID="\(.*\)"/\1/p' /etc/os-release)u1)/" "$tree/debian/changelog"
(cd "$tree" && debian/rules binary) >build/deb/build.log 2>&1 ||
    { tail -n 15 build/deb/build.log && exit 1; }
rm -rf "$tree"
! grep -q '^  CC ' build/deb/build.log || { echo "deb: the program was built anew, see build/deb/build.log" >&2 && exit 1; }

# What it needs, as it is installed here; what is only recommended and not here is left out.
needs() { # package
    dpkg-deb -f "$1" Depends Recommends | sed 's/^[A-Z][a-z]*: //' | tr , '\n' | sed 's/^ *//; s/[ |].*//' | sort -u | while read -r name; do
        ! dpkg-query --status "$name" >/dev/null 2>&1 || echo "$name"
    done
}

list_contents() { # package
    mkdir "$tree"
    dpkg-deb -x "$1" "$tree"
    # shellcheck disable=SC2046 # a list of words
    docker/sbom.py "$tree" /dev/null sbom.spdx.json $(needs "$1")
    mv "$tree/sbom.spdx.json" "${1%.deb}.spdx.json"
    rm -rf "$tree"
}

list_contents build/deb/*.deb
ls build/deb/*.deb
