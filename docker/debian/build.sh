#!/bin/bash
# SPDX-License-Identifier: MIT
# Makes build/deb/blurd_VERSION_ARCHITECTURE.deb of build/release/blurd with Debian's debhelper. `make deb` calls this.
# The package does not build from source in Debian's way: NVIDIA's headers and compiler are not in Debian.
set -euo pipefail
umask 022
cd "$(dirname "$0")/../.."

SOURCE=$PWD
SOURCE_DATE_EPOCH=$(docker/source_date.sh) # no file in the package is younger: the same input gives the same bytes
export SOURCE SOURCE_DATE_EPOCH
tree=build/deb/tree
rm -rf build/deb/tree build/deb/*.deb
mkdir -p "$tree"
cp -r docker/debian "$tree/debian"

version=$(sed -n 's/^#define BLURD_VERSION "\(.*\)"/\1/p' core/version.h)
[ "$(dpkg-parsechangelog -l docker/debian/changelog -S Version)" = "$version" ] ||
    { echo "deb: docker/debian/changelog is not for version $version" >&2 && exit 1; }
(cd "$tree" && debian/rules binary) >build/deb/build.log 2>&1 ||
    { tail -n 15 build/deb/build.log && exit 1; }
rm -rf "$tree"
! grep -q '^  CC ' build/deb/build.log || { echo "deb: the program was built anew, see build/deb/build.log" >&2 && exit 1; }
ls build/deb/*.deb
