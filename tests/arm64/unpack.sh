#!/bin/bash
# SPDX-License-Identifier: MIT
# Unpacks Debian's packages for arm64, with those that they need, in a folder. Nothing is installed, and the system's list of
# architectures stays as it is.
#
#     tests/arm64/unpack.sh FOLDER PACKAGE...     remove the folder to fetch them again
set -euo pipefail

folder=$1
shift
[ ! -d "$folder" ] || exit 0
apt=$folder.apt
rm -rf "$apt" "$folder.new" && mkdir -p "$apt/lists/partial" "$apt/archives/partial" "$folder.new"
: >"$apt/status"

# apt with folders of its own, for another architecture, that believes nothing to be installed.
arm64_apt() {
    apt-get -q -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User=root -o Acquire::Languages=none \
        -o Dir::State="$apt" -o Dir::State::status="$apt/status" -o Dir::Cache="$apt" "$@"
}

echo "arm64: unpacking, with what they need: $*" >&2
if ! { arm64_apt update && arm64_apt install -y --no-install-recommends --download-only "$@"; } >"$folder.log" 2>&1; then
    tail -n 5 "$folder.log" >&2
    echo "arm64: the packages cannot be downloaded, see $folder.log" >&2
    exit 1
fi
for package in "$apt"/archives/*.deb; do
    dpkg-deb --extract "$package" "$folder.new"
done
[ -e "$folder.new/lib" ] || ln -s usr/lib "$folder.new/lib" # Debian 13 has it so, by a package of its own
# Links to the root of a Debian, as libm.so, would lead out of the folder.
find "$folder.new" -type l -lname '/*' -printf '%p\t%l\n' | while IFS=$'\t' read -r link to; do
    ln -sfn "$(realpath -m -s --relative-to="$(dirname "$link")" "$folder.new$to")" "$link"
done
rm -rf "$apt"
mv "$folder.new" "$folder"
