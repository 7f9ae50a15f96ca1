#!/bin/bash
# SPDX-License-Identifier: MIT
# Prints the date that all packed files have, in seconds since 1970: SOURCE_DATE_EPOCH, or else that of the last commit. A
# tree without commits has that of the Debian package's changelog.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ -n "${SOURCE_DATE_EPOCH-}" ]; then
    echo "$SOURCE_DATE_EPOCH"
elif ! git log -1 --format=%ct 2>/dev/null; then
    date --date "$(sed -n '/^ -- /{s/.*>  //p;q}' docker/debian/changelog)" +%s
fi
