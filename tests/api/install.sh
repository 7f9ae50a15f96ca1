#!/bin/bash
# SPDX-License-Identifier: MIT
# Brings schemathesis and what else reads the description of the interface to build/api, from PyPI in the versions
# of requirements.txt. Offline it says so, and what needs them is skipped.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

list=tests/api/requirements.txt
folder=build/api/python
python=/usr/bin/python3
[ -x $python ] || python=python3

cmp -s $folder/installed-from $list && exit 0
echo "api: installing $(tr '\n' ' ' <$list)"
rm -rf $folder
if $python -m pip install --quiet --root-user-action=ignore --no-warn-conflicts --disable-pip-version-check --target $folder \
    --requirement $list; then
    cp $list $folder/installed-from
else
    rm -rf $folder
    echo "api: they cannot be installed, is there a network?"
fi
