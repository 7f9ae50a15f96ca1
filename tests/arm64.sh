#!/bin/bash
# SPDX-License-Identifier: MIT
# Builds blurd for 64-bit ARM with Debian's cross compiler and runs the tests of what has NEON code
# under QEMU's user-mode emulator: every CPU level against the reference. `make check-arm64` calls
# this. It shows that the bytes are right, and nothing about speed.
#
#     tests/arm64.sh [TEST]...     as unit/test_jpeg_encode; all without
#
# It exits with 77 where the tools are missing (config/packages.sh arm64).
#
# The libraries are Debian's for arm64, unpacked under build/arm64/root: nothing is installed, and
# the system's list of architectures stays as it is. Remove build/arm64 to fetch them again.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$PWD/build/arm64
root=$folder/root
build=build/arm64/release
export TIME_LIMIT_FACTOR=20 # of each test
libraries=(libc6-dev libcmocka-dev libdeflate-dev libjpeg62-turbo-dev liblzma-dev libgnutls28-dev libmicrohttpd-dev libpng-dev libseccomp-dev zlib1g-dev)
# not test_gaussian: it asks how good those bytes are that the others compare, and computes for minutes here
tests=(unit/test_filter unit/test_jpeg_sequential unit/test_jpeg_pixels unit/test_jpeg_damage unit/test_jpeg_encode unit/test_jpeg_parts
    unit/test_jpeg_coefficients
    filters/test_detect filters/test_filter_facts filters/test_precision filters/test_rank filters/test_adjust filters/test_resize
    filters/test_filters filters/test_blur)
[ $# = 0 ] || tests=("$@")

say() { printf 'arm64: %s\n' "$*"; }

for tool in aarch64-linux-gnu-gcc qemu-aarch64 apt-get dpkg-deb; do
    command -v $tool >/dev/null || { say "skipped, there is no $tool: config/packages.sh arm64" && exit 77; }
done

# apt with folders of its own, for another architecture, that believes nothing to be installed.
arm64_apt() {
    apt-get -q -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User=root \
        -o Acquire::Languages=none -o Dir::State="$folder/apt" -o Dir::State::status="$folder/apt/status" \
        -o Dir::Cache="$folder/apt" "$@"
}

fetch_libraries() {
    local log=$folder/apt.log package
    rm -rf "$folder" && mkdir -p "$folder/apt/lists/partial" "$folder/apt/archives/partial" "$root.new"
    : >"$folder/apt/status"
    say "unpacking under build/arm64/root, with what they need: ${libraries[*]}"
    if ! { arm64_apt update && arm64_apt install -y --no-install-recommends --download-only "${libraries[@]}"; } >"$log" 2>&1; then
        tail -n 5 "$log"
        say "the packages cannot be downloaded, see build/arm64/apt.log"
        return 1
    fi
    for package in "$folder"/apt/archives/*.deb; do
        dpkg-deb --extract "$package" "$root.new"
    done
    [ -e "$root.new/lib" ] || ln -s usr/lib "$root.new/lib" # Debian 13 has it so, by a package of its own
    rm -rf "$folder/apt"
    mv "$root.new" "$root"
}

[ -d "$root" ] || fetch_libraries

# CUDA_HOME=none: its headers and its compiler found here are for this machine.
make --no-print-directory -j "$(nproc)" CC="aarch64-linux-gnu-gcc --sysroot=$root" AR=aarch64-linux-gnu-ar \
    CONFIG=release BUILD=$build CUDA_HOME=none all "${tests[@]/#/$build/tests/}"

failed=0
emulate() {
    say "$*"
    qemu-aarch64 -L "$root" "$@" || { failed=$((failed + 1)) && say "$1 FAILED"; }
}
emulate $build/blurd --version # with all of its libraries
for test in "${tests[@]}"; do
    emulate "$build/tests/$test"
done
say "$failed of $((${#tests[@]} + 1)) programs failed, under emulation"
[ $failed = 0 ]
