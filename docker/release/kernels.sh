#!/bin/bash
# SPDX-License-Identifier: MIT
# Empties a folder of compiled kernels (build/cuda), unless it is of the same sources and the same compiler as a tree. Kernels of the
# same sources that lie in OTHER are copied; the program that compiles them is not, since it may be of another Debian.
#
#     docker/release/kernels.sh TREE FOLDER [OTHER]
#
# The builds of a release so share what takes a minute of all cores, or more. FOLDER/being-made-of has the checksum of all that the kernels
# are made of: every .cu, every header but that of the version, gpu/cuda, which names the compiler by its hash, and the Makefile. After the build it
# is renamed to made-of, so that no kernels of a build that was broken off are used.
set -euo pipefail

tree=$1 folder=$2 other=${3-}
made_of=$(cd "$tree" && find . -path ./build -prune -o -type f ! -path ./core/version.h \
    \( -path ./Makefile -o -name '*.cu' -o -name '*.cuh' -o -name '*.h' -o -path './gpu/cuda/*' \) -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum)
if [ "$(cat "$folder/made-of" 2>/dev/null)" != "$made_of" ]; then
    rm -rf "$folder"
    mkdir -p "$folder"
    if [ -n "$other" ] && [ "$(cat "$other/made-of" 2>/dev/null)" = "$made_of" ]; then
        cp -a "$other/." "$folder/"
        rm -f "$folder"/*/compile
    fi
fi
rm -f "$folder/made-of"
echo "$made_of" >"$folder/being-made-of"
find "$folder" -type f -exec touch --date "@$(date +%s)" {} + # not older than the tree's files, whose date is that of the commit
