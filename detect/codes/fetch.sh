#!/bin/bash
# SPDX-License-Identifier: MIT
# Makes FOLDER/libblurd-zxing.so, the library that reads codes.
#
#     detect/codes/fetch.sh FOLDER
#
# zxing-cpp comes as source from PyPI, pinned by its hash (detect/codes/zxing.txt) and kept in FOLDER/source. Its readers are
# compiled, and nothing of the package is run. Without a network or a C++ compiler the build goes on without it: this script
# never fails, FOLDER/without tells why, and removing FOLDER makes it look again.
set -u

out=$1
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"
rm -f "$out/libblurd-zxing.so" "$out/without"

without() {
    echo "$1" >"$out/without"
    printf '  %-5s no reader of codes, detect=codes will not work (%s); remove %s to look again\n' NOTE "$1" "$out" >&2
    exit 0
}

for python in /usr/bin/python3 python3; do
    command -v "$python" >/dev/null && "$python" -m pip --version >/dev/null 2>&1 && break
    python=
done
[ -n "$python" ] || without 'pip is not installed'
command -v "${CXX:-g++}" >/dev/null || without 'there is no C++ compiler'

# pip asks a source for its metadata, which the package's own build would tell. Another module of that name tells it instead.
if ! ls "$out"/source/zxing_cpp-*.tar.gz >/dev/null 2>&1; then
    printf '  %-5s %s\n' GET "$(sed -n 's/ --hash.*//p' "$here/zxing.txt")" >&2
    PYTHONPATH=$here/metadata "$python" -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes --no-binary=:all: \
        --no-build-isolation --retries 1 --timeout 10 --dest "$out/source" --requirement "$here/zxing.txt" >"$out/pip.log" 2>&1 ||
        without "zxing-cpp cannot be downloaded, see $out/pip.log"
fi

rm -rf "$out/zxing" && mkdir "$out/zxing" && tar -xzf "$out"/source/zxing_cpp-*.tar.gz -C "$out/zxing" --strip-components=1 ||
    without 'it cannot be unpacked'
printf '  %-5s %s\n' MAKE "$out/libblurd-zxing.so"
${MAKE:-make} --no-print-directory -s -f "$here/zxing.mk" SOURCE="$out/zxing/core" OUT="$out" >"$out/make.log" 2>&1 ||
    without "it cannot be compiled, see $out/make.log"
rm -rf "$out/objects" "$out/zxing"
