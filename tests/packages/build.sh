#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs make in a Debian of its own that has what the build needs, with the files of this tree. The root, and what was built
# in it, stay in build/packages/SUITE: the next build takes up from there.
#
#     tests/packages/build.sh SUITE [VARIABLE=VALUE]... [GOAL]...     bookworm, trixie; prints the folder of the tree in there
#
# With TREE=FOLDER it has the files of that folder, and nothing that earlier builds have left, but for kernels of the same source,
# also those of the folder KERNELS (docker/release/kernels.sh).
#
# The first one of a suite installs packages and compiles all: about ten minutes. With ccache it shares this machine's cache.
set -euo pipefail
cd "$(dirname "$0")/../.."

suite=$1
shift
name=build
folder=$PWD/build/packages/$suite
. tests/packages/common.sh

# As much as a package's name and this tree's list of packages say.
make_root() {
    local stamp
    stamp=$(cat config/packages.sh codecs/formats.def tests/debian.sh | sha256sum)
    [ "$(cat "$folder/stamp" 2>/dev/null)" != "$stamp" ] || return 0
    say "a Debian with what the build needs, $suite, see $folder/packages.log" >&2
    rm -rf "$folder" && mkdir -p "$folder"
    new_root "$suite" "$folder/root"
    mkdir -p "$folder/root/src/codecs" "$folder/root/ccache"
    cp -r config "$folder/root/src"
    cp codecs/formats.def "$folder/root/src/codecs"
    { inside 900 "$folder/root" apt-get -q update &&
        inside 900 "$folder/root" env DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends ccache &&
        inside 900 "$folder/root" /src/config/packages.sh deb; } >"$folder/packages.log" 2>&1 ||
        { tail -n 5 "$folder/packages.log" >&2 && die "the packages for the build on $suite"; }
    echo "$stamp" >"$folder/stamp"
}

# What is released has the libraries of today.
upgrade() {
    { inside 900 "$folder/root" apt-get -q -o APT::Update::Error-Mode=any update &&
        inside 900 "$folder/root" env DEBIAN_FRONTEND=noninteractive apt-get -qy upgrade; } >"$folder/upgrade.log" 2>&1 ||
        { tail -n 5 "$folder/upgrade.log" >&2 && die "the updates of $suite"; }
}

# What was built stays where it is of this tree.
put_tree() {
    if [ -n "${TREE-}" ]; then
        docker/release/kernels.sh "$TREE" "$folder/root/src/build/cuda" "${KERNELS-}"
        find "$folder/root/src/build" -mindepth 1 -maxdepth 1 ! -name cuda -exec rm -rf {} +
    else
        rm -f "$folder/root/src/build/cuda/made-of"
    fi
    find "$folder/root/src" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
    if [ -n "${TREE-}" ]; then
        cp -a "$TREE/." "$folder/root/src/"
    else
        copy_tree "$folder/root/src"
    fi
}

make_root
[ -z "${TREE-}" ] || upgrade
variables=()
while [[ ${1-} == *=* ]]; do
    variables+=("$1") && shift
done
put_tree
cache=$(ccache --get-config cache_dir 2>/dev/null || true)
[ -z "$cache" ] || mkdir -p "$cache"
say "make $* on $suite, see $folder/make.log" >&2
for goal; do # one after the other: both make the program first
    BIND=$cache BIND_TO=/ccache inside 1800 "$folder/root" env SOURCE_DATE_EPOCH="$(docker/source_date.sh)" CCACHE_DIR=/ccache \
        make --no-print-directory -C /src -j "$(nproc)" "${variables[@]}" "$goal" >"$folder/make.log" 2>&1 ||
        { tail -n 15 "$folder/make.log" >&2 && die "make $goal on $suite"; }
done
[ -z "${TREE-}" ] || mv "$folder/root/src/build/cuda/being-made-of" "$folder/root/src/build/cuda/made-of"
echo "$folder/root/src"
