#!/bin/bash
# SPDX-License-Identifier: MIT
# Brings Python packages that tests need, and Debian has not, from PyPI to build/NAME/python, in the versions of
# tests/NAME/requirements.txt. Offline it says so, and what needs them is skipped.
#
#     config/pypi.sh api           schemathesis and what else reads the description of the interface
#     config/pypi.sh kubernetes    the schemas of Kubernetes, 100 MB
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

name=${1?}
list=tests/$name/requirements.txt
folder=build/$name/python
python=/usr/bin/python3
[ -x $python ] || python=python3

cmp -s "$folder/installed-from" "$list" && exit 0
echo "$name: installing $(tr '\n' ' ' <"$list")"
rm -rf "$folder"
if $python -m pip install --quiet --root-user-action=ignore --no-warn-conflicts --disable-pip-version-check --target "$folder" \
    --requirement "$list"; then
    cp "$list" "$folder/installed-from"
else
    rm -rf "$folder"
    echo "$name: they cannot be installed, is there a network?"
fi
