#!/bin/bash
# SPDX-License-Identifier: MIT
# Makes the wheel of the Python client in a folder, from what the program says of its interface. It writes nothing into the tree, and
# the same tree and program give the same bytes.
#
#     clients/python/build.sh [FOLDER]     build/python-client; BLURD=path of the program, build/release/blurd
#
# Needs what `config/pypi.sh clients` brings; without it the exit status is 77.
set -euo pipefail
cd "$(dirname "$0")/../.."

packages=$PWD/build/clients/python
folder=$(realpath -m "${1-build/python-client}")
BLURD=$(realpath "${BLURD-build/release/blurd}")
export BLURD
[ -d "$packages/hatchling" ] || { echo "python-client: no hatchling in build/clients; config/pypi.sh clients gets it" && exit 77; }

python=/usr/bin/python3
[ -x $python ] || python=python3
rm -f "$folder"/blurd-*.whl
SOURCE_DATE_EPOCH=$(docker/source_date.sh)
export SOURCE_DATE_EPOCH
cd clients/python
PYTHONPATH=$packages PYTHONDONTWRITEBYTECODE=1 PYTHONNOUSERSITE=1 $python -m hatchling build --target wheel --directory "$folder"
