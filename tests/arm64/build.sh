#!/bin/bash
# SPDX-License-Identifier: MIT
# Makes goals for 64-bit ARM in build/arm64/release, with Debian's cross compiler. The libraries are Debian's for arm64, unpacked under
# build/arm64/root.
#
#     tests/arm64/build.sh GOAL...
set -euo pipefail
cd "$(dirname "$0")/../.."

root=$PWD/build/arm64/root
mapfile -t formats < <(sed -nE 's/^(READ_)?FORMAT\(.*, (\S+-dev)\)$/\2/p' codecs/formats.def)
tests/arm64/unpack.sh "$root" libc6-dev libcmocka-dev libdeflate-dev libjpeg62-turbo-dev liblzma-dev libgnutls28-dev libmicrohttpd-dev libpng-dev \
    libseccomp-dev zlib1g-dev "${formats[@]}"
# CUDA_HOME=none: its headers and its compiler found here are for this machine.
exec make --no-print-directory -j "$(nproc)" CC="aarch64-linux-gnu-gcc --sysroot=$root" AR=aarch64-linux-gnu-ar \
    CONFIG=release BUILD=build/arm64/release CUDA_HOME=none "$@"
