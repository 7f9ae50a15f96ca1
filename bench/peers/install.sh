#!/bin/bash
# SPDX-License-Identifier: MIT
# Brings what `make bench` compares with to build/bench, in the versions that are pinned here: OpenCV,
# libvips and thumbor from PyPI, sharp and fastify from npm, or where npm is not reachable from the archive
# ../shared/peers/sharp-node_modules.tar.xz (PEERS: another folder). What cannot be had is left out with a notice.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

peers=${PEERS-../shared/peers}
wheels=build/bench/python
thumbor=build/bench/thumbor
modules=build/bench/sharp
python=/usr/bin/python3
[ -x $python ] || python=python3

say() { printf 'peers: %s\n' "$*"; }

# Whatever was installed from this list is installed; another list is installed anew.
is_current() { # folder, list
    cmp -s "$1/installed-from" "$2"
}

install_wheels() { # folder, list
    rm -rf "$1"
    $python -m pip install --quiet --root-user-action=ignore --no-warn-conflicts --disable-pip-version-check --target "$1" --requirement "$2"
}

install_modules() { # folder
    rm -rf $modules && mkdir -p $modules && cp bench/peers/package.json $modules
    if command -v npm >/dev/null &&
        npm install --prefix $modules --silent --no-audit --no-fund --fetch-retries 0 --fetch-timeout 20000; then
        return
    fi
    [ -f "$peers/sharp-node_modules.tar.xz" ] || return 1
    say "npm does not get sharp: taking it from $peers"
    tar xJf "$peers/sharp-node_modules.tar.xz" -C $modules
}

provide() { # what, folder, list, command
    is_current "$2" "$3" && return
    say "installing $1"
    if $4 "$2" "$3"; then
        cp "$3" "$2/installed-from"
    else
        say "$1 cannot be installed and will not be measured"
    fi
}

mkdir -p build/bench
provide "OpenCV and libvips" $wheels bench/peers/requirements.txt install_wheels
provide thumbor $thumbor bench/peers/thumbor.txt install_wheels
if command -v node >/dev/null; then
    provide "sharp and fastify" $modules bench/peers/package.json install_modules
else
    say "there is no node: sharp will not be measured"
fi
