#!/bin/bash
# SPDX-License-Identifier: MIT
# Builds blurd for 64-bit ARM with Debian's cross compiler and runs the tests of what has NEON code
# under QEMU's user-mode emulator: every CPU level against the reference. `make check-arm64` calls
# this. It shows that the bytes are right, and nothing about speed.
#
#     tests/arm64/filters.sh [TEST]...     as unit/test_jpeg_encode; all without
#
# It exits with 77 where the tools are missing (config/packages.sh arm64).
set -euo pipefail
cd "$(dirname "$0")/../.."

root=$PWD/build/arm64/root
build=build/arm64/release
export TIME_LIMIT_FACTOR=20 # of each test
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

tests/arm64/build.sh all "${tests[@]/#/$build/tests/}"

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
