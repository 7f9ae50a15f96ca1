#!/bin/bash
# SPDX-License-Identifier: MIT
# Prints the packages of the libraries that build/release/blurd opens for its formats, separated by commas.
set -euo pipefail
cd "$(dirname "$0")/../.."

{
    for name in $(sed -n 's/^FORMAT_FLAGS := //p' build/release/formats-*.mk | grep -o '"[^"]*"' | tr -d '"' | sort -u); do
        dpkg-query --search "*/$name" | sed -n '1s/:.*//p'
    done
    dpkg-query --search '*/libheif-libde265.so' 2>/dev/null | sed -n '1s/:.*//p' || true
} | sort -u | paste -sd, | sed 's/,/, /g'
