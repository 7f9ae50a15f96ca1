#!/bin/bash
# SPDX-License-Identifier: MIT
# Tests the wheel of the Python client on each Python from 3.9 to 3.13 that this machine has, in PATH or under pyenv, each in an environment of
# its own with packages of PyPI that are pinned by hash. Versions that are not here are named.
#
#     tests/clients/versions.sh [VERSION]...     BLURD=path of the program, build/release/blurd
#
# Ends with 77 if none of them is here. mypy checks types once, in `make check-api`.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

BLURD=$(realpath "${BLURD-build/release/blurd}")
export BLURD PYTHONDONTWRITEBYTECODE=1
folder=$PWD/build/client-versions
lock=tests/clients/versions/requirements.lock
[ $# -gt 0 ] || set -- 3.9 3.10 3.11 3.12 3.13

interpreter() { # version: prints the path of its program
    local one
    for one in "$(command -v "python$1")" "${PYENV_ROOT-$HOME/.pyenv}"/versions/"$1".*/bin/python3; do
        # shims of pyenv are there for versions that are not chosen, and fail
        [ -x "$one" ] && [ "$("$one" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)" = "$1" ] && echo "$one" && return
    done
    return 1
}

environment() { # version, interpreter: makes it, once
    local made=$folder/$1
    [ "$2 $(sha256sum <$lock)" = "$(cat "$made/made-of" 2>/dev/null)" ] && return
    rm -rf "$made"
    "$2" -m venv "$made" &&
        "$made/bin/pip" install --quiet --disable-pip-version-check --no-deps --only-binary :all: --require-hashes --requirement $lock &&
        echo "$2 $(sha256sum <$lock)" >"$made/made-of"
}

config/pypi.sh clients
clients/python/build.sh "$folder/wheel" >/dev/null || exit
WHEEL=$(echo "$folder"/wheel/*.whl)
export WHEEL

passed=() failed=() missing=()
for version in "$@"; do
    python=$(interpreter "$version") || { missing+=("$version") && continue; }
    echo "== $("$python" --version), $python"
    if environment "$version" "$python" && "$folder/$version/bin/python" -m pytest -q -rfEs -p no:cacheprovider tests/clients; then
        passed+=("$version")
    else
        failed+=("$version")
    fi
done
echo "Python versions: passed ${passed[*]:-none}; failed ${failed[*]:-none}; not on this machine: ${missing[*]:-none}"
[ ${#failed[@]} = 0 ] || exit 1
[ ${#passed[@]} -gt 0 ] || exit 77
