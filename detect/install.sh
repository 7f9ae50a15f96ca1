#!/bin/bash
# SPDX-License-Identifier: MIT
# Copies the models that detect/fetch.sh has made, and their copyright files, and says which are missing.
#
#     detect/install.sh FROM TO
set -eu

here=$(dirname "$0")
while read -r name _ model _; do
    if [ -f "$1/$model" ]; then
        install -D -m 644 -t "$2" "$1/$model" "$here/$name/${model%.*}.copyright"
    else
        printf '  %-5s without %s, as that was not made\n' NOTE "$model" >&2
    fi
done < <(grep -v '^#' "$here/models.txt")
